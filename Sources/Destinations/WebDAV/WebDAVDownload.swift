import Foundation
import HealthFormats
import HealthModel

/// A download of the day files on a WebDAV server.
struct WebDAVDownload: DayFilesSource {
  let label: String
  private let store: WebDAVObjectStore
  private let prefix: String

  /// The number of days to download at once.
  private static let width = 6
  private static let question = Array(
    #"<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getlastmodified/></prop></propfind>"#.utf8)

  /// Creates a download of the files that a destination has written.
  init(_ section: DestinationSection, _ secrets: SecretStore) throws(SettingsError) {
    self.init(
      label: "destination:\(section.name)", try WebDAVDestination.reader(section.settings, secrets),
      prefix: try DayFiles.Options(section.settings).prefix)
  }

  /// Creates a download from `webdavs://USER@HOST/PATH`, or from `webdav:` without encryption, which is allowed for
  /// this machine only. Name and password come from the environment variables `WEBDAV_USERNAME` and
  /// `WEBDAV_PASSWORD`; a name in the address takes precedence.
  init(address: String, environment: [String: String]) throws(SettingsError) {
    guard var parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
      ["webdav", "webdavs"].contains(scheme), parts.host?.isEmpty == false
    else { throw SettingsError("url", .invalid("is not webdavs://HOST/PATH")) }
    guard parts.password == nil else {
      throw SettingsError(
        "url", .invalid("has a password, which every program here can read: put it into WEBDAV_PASSWORD"))
    }
    let user = parts.user ?? environment["WEBDAV_USERNAME"]
    (parts.user, parts.scheme) = (nil, scheme == "webdavs" ? "https" : "http")
    var values: [String: DestinationSettings.Value] = ["url": .text(parts.string ?? "")]
    if let user {
      values["username"] = .text(user)
      if environment["WEBDAV_PASSWORD"]?.isEmpty == false { values["password"] = .text("env:WEBDAV_PASSWORD") }
    }
    let settings = try DestinationSettings(name: "import", values, of: WebDAVDestination.description)
    self.init(
      label: address, try WebDAVDestination.reader(settings, SecretStore(environment: environment)), prefix: "")
  }

  private init(label: String, _ store: WebDAVObjectStore, prefix: String) {
    (self.label, self.store, self.prefix) = (label, store, prefix)
  }

  func close() async { await store.service.close() }

  func fetch(into folder: String, _ progress: (Int) -> Void) async throws -> Int {
    var count = 0
    // The layout is v1/KEY/YYYY/MM/DD, and the days of a month are downloaded together.
    for key in try await collections(in: "v1") {
      for year in try await collections(in: "v1/\(key)") {
        for month in try await collections(in: "v1/\(key)/\(year)") {
          let place = "v1/\(key)/\(year)/\(month)"
          let days = try await collections(in: place)
          try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, day) in days.enumerated() {
              if index >= Self.width { count += try await group.next() ?? 0 }
              group.addTask { try await fetch(day: "\(place)/\(day)", into: folder) }
            }
            for try await files in group { count += files }
          }
          guard count <= S3Download.mostObjects else {
            throw DeliveryError.refused(reason: "it lists more files than any record has")
          }
          progress(count)
        }
      }
    }
    return count
  }

  private func fetch(day: String, into folder: String) async throws -> Int {
    var count = 0
    for member in try await list(day) where !member.isCollection {
      let name = "\(day)/\(member.name)"
      guard HealthPushFolder.key(of: name) != nil else { continue }
      let file = try await DownloadedFile(name, in: folder)
      let response = try await store.ask("GET", prefix + name, file: file.path)
      // The file was deleted after it was listed.
      if [404, 410].contains(response.status) { continue }
      guard response.status == 200 else { throw store.refusal(response, "GET") }
      try await file.fetched(modified: member.modified)
      count += 1
    }
    return count
  }

  private func collections(in place: String) async throws -> [String] {
    try await list(place).filter(\.isCollection).map(\.name)
  }

  private func list(_ place: String) async throws -> [WebDAVListing.Member] {
    let response = try await store.ask(
      "PROPFIND", "\(prefix)\(place)/", [("Depth", "1"), ("Content-Type", "application/xml; charset=utf-8")],
      Self.question)
    switch response.status {
    case 207:
      // A server may list one thing twice.
      var names: Set<String> = []
      return WebDAVListing(response.body).members.filter { names.insert($0.name).inserted }
    case 404, 410: return []
    default: throw store.refusal(response, "PROPFIND")
    }
  }
}
