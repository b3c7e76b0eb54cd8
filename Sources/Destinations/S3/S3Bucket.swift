import Foundation

/// The location of a bucket: its server, its region, and its form in URLs.
struct S3Bucket: Hashable, Sendable {
  static let fields = [
    SettingField("bucket", .text, "The bucket.", required: true),
    SettingField("region", .text, "The bucket's region.", default: "us-east-1"),
    SettingField(
      "endpoint", .url(schemes: ["https", "http"]),
      "The server, such as https://s3.example.org. Without it, that of Amazon in this region."),
    SettingField(
      "addressing", .choice(["auto", "path", "virtual"]),
      "Whether the bucket is in the path or before the server's name: auto is path with an endpoint, and virtual without.",
      default: "auto"),
  ]

  let name: String
  let region: String
  /// The URL of the bucket's host, without a path or a `/` at its end:
  /// `https://bucket.s3.eu-central-1.amazonaws.com`, or only the server if the bucket is part of ``path``.
  let url: URL
  /// The value of the signed `Host` header, including the port unless it is the scheme's default.
  let host: String
  /// The percent-encoded path before the name of an object; begins and ends with `/`.
  let path: String

  /// Creates the location from settings.
  ///
  /// - Throws: ``SettingsError`` if the bucket's name, region or endpoint is invalid.
  init(_ settings: DestinationSettings) throws(SettingsError) {
    let name = try settings.text("bucket")
    guard (3...63).contains(name.utf8.count),
      name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || "-.".utf8.contains($0) }),
      let first = name.first, let last = name.last, !"-.".contains(first), !"-.".contains(last)
    else {
      throw SettingsError(
        "bucket",
        .invalid("must have 3 to 63 lower-case letters, digits, - and ., and begin and end with one of the former"))
    }
    let region = try settings.text("region").trimmingCharacters(in: .whitespaces)
    guard !region.isEmpty,
      region.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D })
    else { throw SettingsError("region", .invalid("is not the name of a region, such as eu-central-1")) }
    (self.name, self.region) = (name, region)

    let hasEndpoint = settings.has("endpoint")
    let suffix = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
    let endpoint = hasEndpoint ? try settings.text("endpoint") : "https://s3.\(region).\(suffix)"
    guard let parts = URLComponents(string: endpoint), let server = parts.host, parts.query == nil,
      parts.fragment == nil
    else { throw SettingsError("endpoint", .invalid("is not the URL of a server")) }
    let addressing = try settings.text("addressing")
    // A certificate for *.s3.REGION.amazonaws.com doesn't cover a name with another dot.
    let isVirtual = addressing == "virtual" || addressing == "auto" && !hasEndpoint && !name.contains(".")
    let scheme = parts.scheme?.lowercased() ?? "https"
    let port = parts.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
    host = (isVirtual ? "\(name)." : "") + server + port
    let base = parts.percentEncodedPath.split(separator: "/").map { "/\($0)" }.joined()
    path = base + (isVirtual ? "/" : "/\(name)/")
    guard let url = URL(string: "\(scheme)://\(host)") else {
      throw SettingsError("endpoint", .invalid("is not the URL of a server"))
    }
    self.url = url
  }
}
