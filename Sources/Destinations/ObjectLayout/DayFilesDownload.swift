import Foundation
import HealthModel
import OperatingSystem

/// A place that files by type and day are fetched from.
protocol DayFilesSource: Sendable {
  /// As the person named it.
  var label: String { get }
  /// Fetches what is there into a folder, under the names that it has below the prefix, and tells now and then how many
  /// files there are so far.
  func fetch(into folder: String, _ progress: (Int) -> Void) async throws -> Int
  /// Ends connections.
  func close() async
}

/// Why files by type and day could not be fetched.
public struct DayFilesDownloadError: Error, Hashable, Sendable {
  /// As the person gave it.
  public let address: String
  /// A sentence without its end.
  public let reason: String

  /// - Parameter reason: a sentence, with or without its end.
  public init(address: String, reason: String) {
    self.address = address
    self.reason = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
  }
}

extension DayFilesDownloadError: CustomStringConvertible {
  public var description: String { "\(address) cannot be read: \(reason)\(reason.hasSuffix("?") ? "" : ".")" }
}

/// Fetches the files by type and day of a bucket or a WebDAV server, as they are: from an address, or from where a
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
/// For an address, the credentials are those of the environment: `AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`
/// and its like, or a profile of `~/.aws/credentials`; `WEBDAV_USERNAME` and `WEBDAV_PASSWORD`.
public struct DayFilesDownload: Sendable {
  private let source: any DayFilesSource

  /// Whether a text is meant as an address that can be fetched from: `s3:`, `webdav:` or `webdavs:`.
  public static func isAddress(_ text: String) -> Bool {
    ["s3://", "webdav://", "webdavs://"].contains { text.lowercased().hasPrefix($0) }
  }

  /// Opens no connection. May read a file with credentials.
  ///
  /// - Throws: ``DayFilesDownloadError`` of what is no address, and where there are no credentials.
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

  /// From where a destination delivers to, with its settings and secrets. Blocking: reads secrets.
  ///
  /// - Throws: ``DayFilesDownloadError`` of a kind that nothing can be fetched from.
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

  /// The folder that a destination of files writes into, with its prefix; `nil` of any other kind.
  public static func folder(of section: DestinationSection) -> String? {
    guard section.kind.description.kind == FolderDestination.description.kind,
      let path = section.settings.optionalText("path"), let options = try? DayFiles.Options(section.settings)
    else { return nil }
    return UserPath.absolute(path) + "/" + options.prefix
  }

  /// Fetches what is there into a folder, under the names that it has below the prefix.
  ///
  /// - Parameters:
  ///   - folder: of this user's own, empty.
  ///   - progress: called now and then with the number of files.
  /// - Returns: how many files there are.
  /// - Throws: ``DayFilesDownloadError``, `CancellationError`, or what writing a file throws.
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
