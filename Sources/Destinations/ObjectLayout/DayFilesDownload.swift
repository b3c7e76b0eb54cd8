import Foundation
import HealthModel
import OperatingSystem

/// A place from which day files are downloaded.
protocol DayFilesSource: Sendable {
  /// The place as the person specified it.
  var label: String { get }
  /// Downloads all files into a folder, under their names below the prefix. Reports the number of files from time to
  /// time, and returns it.
  func fetch(into folder: String, _ progress: (Int) -> Void) async throws -> Int
  /// Closes connections.
  func close() async
}

/// The reason why day files could not be downloaded.
public struct DayFilesDownloadError: Error, Hashable, Sendable {
  /// The address as the person specified it.
  public let address: String
  /// A sentence without its full stop.
  public let reason: String

  /// Creates an error.
  ///
  /// - Parameter reason: a sentence, with or without its full stop.
  public init(address: String, reason: String) {
    self.address = address
    self.reason = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
  }
}

extension DayFilesDownloadError: CustomStringConvertible {
  public var description: String { "\(address) cannot be read: \(reason)\(reason.hasSuffix("?") ? "" : ".")" }
}

/// A download of the day files of a bucket or a WebDAV server, unchanged: from an address, or from the place that a
/// destination delivers to.
///
/// ```swift
/// func fetch(into folder: String) async throws {
///   let download = try DayFilesDownload(address: "webdavs://cloud.example.org/dav/health")
///   let count = try await download.run(into: folder) { print($0, "files so far") }
///   print(count, "files")
/// }
/// ```
///
/// The credentials for an address come from the environment (`AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`
/// and similar; `WEBDAV_USERNAME` and `WEBDAV_PASSWORD`) or from a profile in `~/.aws/credentials`.
public struct DayFilesDownload: Sendable {
  private let source: any DayFilesSource

  /// Returns whether a text starts like an address to download from: `s3://`, `webdav://` or `webdavs://`.
  public static func isAddress(_ text: String) -> Bool {
    ["s3://", "webdav://", "webdavs://"].contains { text.lowercased().hasPrefix($0) }
  }

  /// Creates a download from an address without opening a connection. May read a file with credentials.
  ///
  /// - Throws: ``DayFilesDownloadError`` if the address is invalid or there are no credentials.
  public init(
    address: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(DayFilesDownloadError) {
    do {
      source =
        address.lowercased().hasPrefix("s3://")
        ? try S3Download(address, environment: environment)
        : try WebDAVDownload(address: address, environment: environment)
    } catch {
      throw DayFilesDownloadError(address: address, reason: "\(error)")
    }
  }

  /// Creates a download from the place that a destination delivers to. Blocking: reads secrets.
  ///
  /// - Throws: ``DayFilesDownloadError`` if the kind of destination has nothing to download.
  public init(
    _ section: DestinationSection, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(DayFilesDownloadError) {
    let secrets = SecretStore(environment: environment)
    do {
      switch section.kind.description.kind {
      case S3Destination.description.kind:
        source = try S3Download(section, secrets, environment: environment)
      case WebDAVDestination.description.kind: source = try WebDAVDownload(section, secrets)
      default:
        throw SettingsError(
          "kind", .invalid("\(section.kind.description.kind.rawValue) keeps nothing that can be read back"))
      }
    } catch {
      throw DayFilesDownloadError(address: "destination:\(section.name)", reason: "\(error)")
    }
  }

  /// Returns the folder that a folder destination writes to, including its prefix, or `nil` for any other kind.
  public static func folder(of section: DestinationSection) -> String? {
    guard section.kind.description.kind == FolderDestination.description.kind,
      let path = section.settings.optionalText("path"), let options = try? DayFiles.Options(section.settings)
    else { return nil }
    return UserPath.absolute(path) + "/" + options.prefix
  }

  /// Downloads all files into a folder, under their names below the prefix.
  ///
  /// - Parameters:
  ///   - folder: an empty folder that belongs to this user.
  ///   - progress: receives the number of files from time to time.
  /// - Returns: the number of files.
  /// - Throws: ``DayFilesDownloadError``, `CancellationError`, or an error of writing a file.
  public func run(into folder: String, progress: @escaping @Sendable (Int) -> Void = { _ in }) async throws -> Int {
    do {
      let count = try await source.fetch(into: folder, progress)
      await source.close()
      return count
    } catch {
      await source.close()
      guard let error = error as? DeliveryError else { throw error }
      throw DayFilesDownloadError(address: source.label, reason: "\(error)")
    }
  }
}
