import Foundation
import HealthModel

/// A format of files or folders of samples that can be imported. To add one, list it in ``RecordFormats``.
///
/// Apple Health exports do not conform: they alone are surveyed before they are read, and show which samples have
/// been deleted (``AppleHealthExport``).
///
/// ```swift
/// func count(_ file: any RecordFormat) throws -> Int {
///   var count = 0
///   let report = try file.read(ReadingOptions(), progress: { _ in }) { count += $0.count }
///   if !report.isComplete { print("\(file.path) ends early.") }
///   return count
/// }
/// ```
public protocol RecordFormat: Sendable {
  /// Recognises a file or folder of this format by its content. Blocking.
  ///
  /// - Returns: `nil` if the candidate has another format.
  /// - Throws: ``SampleFileError`` if the candidate comes from this format's program but can never be imported;
  ///   ``ImportError`` if it cannot be opened.
  static func recognise(_ candidate: ImportCandidate) throws -> Self?

  /// The path as the person gave it, for messages.
  var path: String { get }

  /// The way by which the samples reach hpeer, such as a file or an app.
  var road: SampleRoad { get }

  /// The number of bytes that ``read(_:progress:deliver:)`` reports as progress by its end.
  var workBytes: Int64 { get }

  /// Returns the details that identify the person, or empty readings if the file has none. Blocking.
  ///
  /// - Parameter progress: called from time to time with the number of bytes read; may throw to stop.
  /// - Throws: ``ImportError``, or what the closure throws.
  func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings

  /// Reads all samples, in memory that does not grow with their number. Can be called repeatedly. Blocking: call it
  /// on a thread of your own.
  ///
  /// - Parameters:
  ///   - progress: called from time to time with the number of bytes read; may throw to stop.
  ///   - deliver: called with each batch of complete samples; may throw to stop.
  /// - Returns: a report. ``ImportReport/isComplete`` is false if the file ends early; everything complete before
  ///   that has been delivered.
  /// - Throws: ``SampleFileError`` or ``ImportError``, or what the closures throw.
  func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport
}

extension RecordFormat {
  /// Returns empty readings, because most formats do not identify the person.
  public func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings {
    PersonReadings()
  }

  /// Returns the details that identify the person, without reporting progress. Blocking.
  public func personReadings() throws -> PersonReadings { try personReadings { _ in } }
}

/// Facts about a file that the file itself does not state. Each format ignores the options that do not apply to it.
public struct ReadingOptions: Hashable, Sendable {
  /// The time at which the file was made, or `nil` to use the file's own. Newer readings replace older ones.
  public var asOf: Timestamp?
  /// Whether HealthPush's six wrong units are corrected in folders of types and days that hpeer did not write.
  public var repairsUnits = false
  /// The time zone of times that state none, or `nil` for the file's own zone or, if it has none, ``homeZone``.
  public var zone: TimeZone?
  /// The time zone of the person's days.
  public var homeZone = TimeZone.current

  /// Creates options for a file about which nothing is known.
  public init() {}
}

/// All formats that can be imported, except Apple's exports.
enum RecordFormats {
  /// The formats in the order in which they are tried; the first that recognises a candidate reads it.
  static let all: [any RecordFormat.Type] = [
    HealthPushFolder.self, FitbitExport.self, SampleFile.self, HealthAppTransferFile.self, HealthAutoExport.self,
  ]

  /// Returns the candidate in the first format that recognises it, or `nil` if none does.
  static func recognise(_ candidate: ImportCandidate) throws -> (any RecordFormat)? {
    for format in all {
      if let found = try format.recognise(candidate) { return found }
    }
    return nil
  }
}
