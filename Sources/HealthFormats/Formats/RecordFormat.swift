import Foundation
import HealthModel

/// A kind of file or folder of samples that can be imported. A new one is a folder and a line in ``RecordFormats``.
///
/// Apple Health exports are not among them: they alone are surveyed before they are read, and say what is no longer there
/// (``AppleHealthExport``).
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
  /// Tells by its content whether a file or folder is of this format. Blocking.
  ///
  /// - Returns: `nil` of what is of another one.
  /// - Throws: ``SampleFileError`` of what is of this one's program and can never be read; ``ImportError`` of what cannot be
  ///   opened.
  static func recognise(_ candidate: ImportCandidate) throws -> Self?

  /// As the person gave it, for messages.
  var path: String { get }

  /// By which road its samples come.
  var road: SampleRoad { get }

  /// In bytes, what ``read(_:progress:deliver:)`` reports as progress when it is done.
  var workBytes: Int64 { get }

  /// Whose record it is; no readings where it does not say. Blocking.
  ///
  /// - Parameter progress: called now and then with the bytes that have been read; may throw to stop.
  /// - Throws: ``ImportError``, or what the closure throws.
  func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings

  /// Reads all samples, as often as it is asked to, in memory that does not grow with their number. Blocking: call it on a
  /// thread of your own.
  ///
  /// - Parameters:
  ///   - progress: called now and then with the bytes that have been read; may throw to stop.
  ///   - deliver: takes whole samples; may throw to stop.
  /// - Returns: what was found. ``ImportReport/isComplete`` is false for a file that ends early: all that was whole has
  ///   been delivered.
  /// - Throws: ``SampleFileError`` or ``ImportError``, or what the closures throw.
  func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport
}

extension RecordFormat {
  /// Most files do not say whose they are.
  public func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings {
    PersonReadings()
  }

  /// Without a word on the way. Blocking.
  public func personReadings() throws -> PersonReadings { try personReadings { _ in } }
}

/// What a person says of a file that it does not say itself. A format passes over what is not meant for it.
public struct ReadingOptions: Hashable, Sendable {
  /// When the file was made: newer numbers replace older ones. `nil` for what the file says.
  public var asOf: Timestamp?
  /// Whether numbers in files by type and day that hpeer did not write are HealthPush's, six of whose units are wrong.
  public var repairsUnits = false
  /// The zone of times without one. `nil` for what the file says, and where it says nothing for ``homeZone``.
  public var zone: TimeZone?
  /// The zone of the person's days.
  public var homeZone = TimeZone.current

  /// Of a file about which nothing is known.
  public init() {}
}

/// All formats that are read, but for Apple's exports.
enum RecordFormats {
  /// In the order in which they are asked; the first that recognises a file has it.
  static let all: [any RecordFormat.Type] = [
    HealthPushFolder.self, FitbitExport.self, SampleFile.self, HealthAppTransferFile.self, HealthAutoExport.self,
  ]

  /// - Returns: `nil` of what none of them recognises.
  static func recognise(_ candidate: ImportCandidate) throws -> (any RecordFormat)? {
    for format in all {
      if let found = try format.recognise(candidate) { return found }
    }
    return nil
  }
}
