import Foundation
import HealthFormats
import HealthModel

/// A download of the day files in a bucket, unchanged.
struct S3Download: DayFilesSource {
  let label: String
  private let prefix: String
  private let client: S3Client

  /// The number of files to download at once.
  private static let width = 6
  /// The maximum number of consecutive pages without a new file. A page usually lists a thousand objects.
  private static let mostIdlePages = 1_000
  /// The maximum number of files, more than a person ever has days of all types.
  static let mostObjects = 5_000_000

  /// Creates a download of the files that a destination has written.
  init(
    _ section: DestinationSection, _ secrets: SecretStore, environment: [String: String]
  ) throws(SettingsError) {
    label = "destination:\(section.name)"
    prefix = try DayFiles.Options(section.settings).prefix
    client = try S3Client(
      section.settings, AWSCredentialSource(section.settings, secrets, environment: environment))
  }

  /// Creates a download from `s3://BUCKET/PREFIX`, with the endpoint and credentials of the standard AWS environment
  /// variables. Reads a file with credentials.
  init(_ address: String, environment: [String: String]) throws(SettingsError) {
    label = address
    let parts = address.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    guard address.lowercased().hasPrefix("s3://"), let bucket = parts.first else {
      throw SettingsError("bucket", .invalid("is missing: an address is s3://BUCKET or s3://BUCKET/PREFIX"))
    }
    prefix = parts.dropFirst().map { "\($0)/" }.joined()
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    var values: [String: DestinationSettings.Value] = ["bucket": .text(bucket)]
    if let region = value("AWS_REGION", "AWS_DEFAULT_REGION") { values["region"] = .text(region) }
    if let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") { values["endpoint"] = .text(endpoint) }
    let settings = try DestinationSettings(name: "import", values, of: S3Destination.description)
    let secrets = SecretStore(environment: environment)
    client = try S3Client(settings, AWSCredentialSource(settings, secrets, environment: environment))
  }

  func close() async { await client.close() }

  func fetch(into folder: String, _ progress: (Int) -> Void) async throws -> Int {
    var seen: Set<String> = []
    var token: String?
    var idle = 0
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
      let new = objects.filter { seen.insert($0.name).inserted }
      guard seen.count <= Self.mostObjects else {
        throw DeliveryError.unusable(reason: "\(label) lists too many files")
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, object) in new.enumerated() {
          if index >= Self.width { try await group.next() }
          group.addTask { try await fetch(object, into: folder) }
        }
        try await group.waitForAll()
      }
      progress(seen.count)
      // A server could list pages without new files forever, under changing tokens.
      idle = new.isEmpty ? idle + 1 : 0
      guard page.next != token || token == nil, idle < Self.mostIdlePages else { break }
      token = page.next
    } while token != nil
    return seen.count
  }

  private func fetch(_ object: S3Page.Object, into folder: String) async throws {
    let file = try await DownloadedFile(String(object.name.dropFirst(prefix.count)), in: folder)
    do {
      _ = try await client.send(
        S3Client.Request(method: "GET", name: object.name, file: file.path), expecting: [404])
    } catch is S3Failure {
      // The object was deleted after it was listed.
      return
    }
    try await file.fetched(modified: object.modified)
  }
}

/// A page of a bucket's listing (`ListObjectsV2`), with URL-encoded names.
struct S3Page: Sendable {
  struct Object: Hashable, Sendable {
    var name: String
    var modified: Timestamp?
  }

  var objects: [Object] = []
  /// The token that requests the next page; `nil` on the last page.
  var next: String?

  /// Parses a page. Skips entries without a valid name.
  init(_ body: [UInt8]) {
    let text = String(decoding: body, as: UTF8.self)
    for entry in XMLElements.all("Contents", in: text) {
      guard let key = XMLElements.first("Key", in: entry)?.replacing("+", with: " ").removingPercentEncoding
      else { continue }
      objects.append(
        Object(
          name: key, modified: XMLElements.first("LastModified", in: entry).flatMap { Timestamp(iso8601: $0) }))
    }
    guard XMLElements.first("IsTruncated", in: text) == "true" else { return }
    next = XMLElements.first("NextContinuationToken", in: text)
  }
}
