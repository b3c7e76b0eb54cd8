import Foundation
import HealthFormats
import HealthModel
import OperatingSystem

/// Why a bucket could not be read.
public struct S3DownloadError: Error, Hashable, Sendable {
  /// As the person gave it.
  public let url: String
  /// A sentence without its end.
  public let reason: String
}

extension S3DownloadError: CustomStringConvertible {
  public var description: String { "\(url) cannot be read: \(reason)\(reason.hasSuffix("?") ? "" : ".")" }
}

/// Fetches the files by type and day that are in a bucket, as they are: `s3://BUCKET/PREFIX`.
///
/// The server and the credentials are those of the environment, as for other programs: `AWS_ENDPOINT_URL`, `AWS_REGION`,
/// `AWS_ACCESS_KEY_ID` and its like, or a profile of `~/.aws/credentials`.
///
/// ```swift
/// func fetch(into folder: String) async throws {
///   let download = try S3Download("s3://my-health/ada")
///   let count = try await download.run(into: folder) { print($0, "files so far") }
///   print(count, "files")
/// }
/// ```
public struct S3Download: Sendable {
  private let url: String
  private let prefix: String
  private let client: S3Client

  /// How many files are fetched at once.
  private static let width = 6

  /// Whether a text is meant as the address of a bucket.
  public static func isAddress(_ text: String) -> Bool { text.lowercased().hasPrefix("s3://") }

  /// Opens no connection. Reads a file with credentials.
  ///
  /// - Throws: ``S3DownloadError`` of what is no address, and where there are no credentials.
  public init(
    _ url: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(S3DownloadError) {
    self.url = url
    let parts = url.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    guard Self.isAddress(url), let bucket = parts.first else {
      throw S3DownloadError(url: url, reason: "an address is s3://BUCKET or s3://BUCKET/PREFIX")
    }
    prefix = parts.dropFirst().map { "\($0)/" }.joined()
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    var values: [String: DestinationSettings.Value] = ["bucket": .text(bucket)]
    if let region = value("AWS_REGION", "AWS_DEFAULT_REGION") { values["region"] = .text(region) }
    if let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") { values["endpoint"] = .text(endpoint) }
    do {
      let settings = try DestinationSettings(name: "import", values, of: S3Destination.description)
      let secrets = SecretStore(environment: environment)
      client = try S3Client(settings, AWSCredentialSource(settings, secrets, environment: environment))
    } catch {
      throw S3DownloadError(url: url, reason: Self.part("\(error)"))
    }
  }

  /// Fetches what is there into a folder, under the names that it has below the prefix.
  ///
  /// - Parameters:
  ///   - folder: of this user's own, empty.
  ///   - progress: called now and then with the number of files.
  /// - Returns: how many files there are.
  /// - Throws: ``S3DownloadError``, `CancellationError`, or what writing a file throws.
  public func run(into folder: String, progress: @escaping @Sendable (Int) -> Void = { _ in }) async throws -> Int {
    do {
      let count = try await fetch(into: folder, progress)
      await client.close()
      return count
    } catch {
      await client.close()
      guard let error = error as? DeliveryError else { throw error }
      throw S3DownloadError(url: url, reason: Self.part("\(error)"))
    }
  }

  private static func part(_ sentence: String) -> String {
    sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  private func fetch(into folder: String, _ progress: (Int) -> Void) async throws -> Int {
    var count = 0
    var token: String?
    repeat {
      var query = [("encoding-type", "url"), ("list-type", "2"), ("prefix", prefix + "v1/")]
      if let token { query.append(("continuation-token", token)) }
      let response = try await client.send(
        S3Client.Request(method: "GET", query: query.map { (name: $0.0, value: $0.1) }))
      let page = S3Page(response.body)
      let objects = page.objects.filter { object in
        object.name.utf8.starts(with: prefix.utf8)
          && HealthPushFolder.key(of: String(object.name.dropFirst(prefix.count))) != nil
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, object) in objects.enumerated() {
          if index >= Self.width { try await group.next() }
          group.addTask { try await fetch(object, into: folder) }
        }
        try await group.waitForAll()
      }
      count += objects.count
      progress(count)
      // One that says the same again would go on for ever.
      guard page.next != token || token == nil else { break }
      token = page.next
    } while token != nil
    return count
  }

  private func fetch(_ object: S3Page.Object, into folder: String) async throws {
    let response: HTTPService.Response
    do {
      response = try await client.send(S3Client.Request(method: "GET", name: object.name), expecting: [404])
    } catch is S3Failure {
      // Deleted since it was listed.
      return
    }
    let name = String(object.name.dropFirst(prefix.count))
    try await onThread { _ in
      let file = URL(filePath: folder).appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data(response.body).write(to: file)
      var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
      attributes[.modificationDate] = object.modified.map { Date(timeIntervalSince1970: Double($0.seconds)) }
      try FileManager.default.setAttributes(attributes, ofItemAtPath: file.path)
    }
  }
}

/// A page of what a bucket lists (`ListObjectsV2`), with names encoded as in a URL.
struct S3Page: Sendable {
  struct Object: Hashable, Sendable {
    var name: String
    var modified: Timestamp?
  }

  var objects: [Object] = []
  /// What the next page is asked for with; `nil` of the last.
  var next: String?

  /// What is no object of a name is passed over.
  init(_ body: [UInt8]) {
    let text = String(decoding: body, as: UTF8.self)
    for entry in XMLElements.all("Contents", in: text) {
      guard let key = XMLElements.first("Key", in: entry)?.removingPercentEncoding else { continue }
      objects.append(
        Object(name: key, modified: XMLElements.first("LastModified", in: entry).flatMap { Timestamp(iso8601: $0) }))
    }
    guard XMLElements.first("IsTruncated", in: text) == "true" else { return }
    next = XMLElements.first("NextContinuationToken", in: text)
  }
}
