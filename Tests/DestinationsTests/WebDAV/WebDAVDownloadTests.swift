import Foundation
import HealthFormats
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite("Reading a WebDAV server back", .timeLimit(.minutes(5)))
struct WebDAVDownloadTests {
  private static let environment = ["PASSWORD": "s3cret", "WEBDAV_USERNAME": "ada", "WEBDAV_PASSWORD": "s3cret"]

  private func read(_ folder: String) throws -> [UUID: Sample] {
    var read: [UUID: Sample] = [:]
    _ = try #require(HealthPushFolder(at: folder)).read(repairsUnits: false) { batch in
      let expander = try ChangeExpander(batch.changes)
      for row in batch.changes.samples { read[row.uuid] = try expander.sample(row) }
    }
    return read
  }

  private func folder(_ name: String, in home: DestinationHome) throws -> String {
    let folder = home.directory.path(name)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return folder
  }

  @Test(
    "what was delivered is read back whole, by the destination's name and by an address",
    .enabled(if: WebDAVServer.isHere, "\(WebDAVServer.missing)"), arguments: WebDAVServer.Kind.allCases)
  func roundTrip(kind: WebDAVServer.Kind) async throws {
    let server = try WebDAVServer(kind)
    let home = try DestinationHome()
    var maker = SampleMaker(seed: 22)
    let samples = maker.samples(40)
    try await home.add(samples)
    let text = """
      [destination.shelf]
      kind = "webdav"
      url = "\(server.url)"
      prefix = "of/ada"
      username = "ada"
      password = "env:PASSWORD"

      """
    let section = try #require(try SettingsFile(text: text, path: "config.toml").destination("shelf"))
    let place = try WebDAVDestination(section.settings, in: home.environment(Self.environment))
    let delivered = try await home.deliver(to: place).delivered
    await place.close()
    // What is beside the files of days is passed over.
    try? Data("x".utf8).write(to: URL(filePath: "\(server.files)/of/ada/v1/notes.txt"))

    let named = try folder("named", in: home)
    #expect(try await DayFilesDownload(section, environment: Self.environment).run(into: named) > 0)
    let found = try read(named)
    #expect(found.count == delivered)
    for sample in samples {
      guard let other = found[sample.uuid] else { continue }
      #expect(try CanonicalJSON.encode(other) == CanonicalJSON.encode(sample))
    }
    let addressed = try folder("addressed", in: home)
    let address = "webdav://127.0.0.1:\(server.port)/of/ada/"
    _ = try await DayFilesDownload(address: address, environment: Self.environment).run(into: addressed)
    #expect(try read(addressed).keys == found.keys)
    let nothing = "webdav://127.0.0.1:\(server.port)/nowhere"
    #expect(try await DayFilesDownload(address: nothing, environment: Self.environment).run(into: addressed) == 0)
  }

  @Test("what cannot be read is said in a sentence, without the password")
  func complaints() async throws {
    for address in ["webdavs://", "webdavs:///x", "webdavs://ada:s3cret@example.org/x", "webdav://192.0.2.1/x"] {
      let error = try #require(
        #expect(throws: DayFilesDownloadError.self) { try DayFilesDownload(address: address, environment: [:]) })
      #expect(!error.reason.contains("s3cret"))
    }
    let server = try ScriptedDAV(.init())
    let address = "webdav://127.0.0.1:\(server.port)/x"
    let download = try DayFilesDownload(address: address, environment: [:])
    // This one knows no PROPFIND.
    let error = try #require(
      await #expect(throws: DayFilesDownloadError.self) { try await download.run(into: "/nowhere") })
    #expect("\(error)".hasPrefix("\(address) cannot be read: the server does not know PROPFIND (405)"))
    let text = "[destination.out]\nkind = \"command\"\ncommand = [\"/bin/true\"]\n"
    let section = try #require(try SettingsFile(text: text, path: "config.toml").destination("out"))
    let refusal = try #require(#expect(throws: DayFilesDownloadError.self) { try DayFilesDownload(section) })
    #expect("\(refusal)".contains("command keeps nothing that can be read back"))
  }

  @Test("a folder is read where it is")
  func ofFolder() throws {
    let text = "[destination.shelf]\nkind = \"folder\"\npath = \"/srv/shelf\"\nprefix = \"of/ada\"\n"
    let section = try #require(try SettingsFile(text: text, path: "config.toml").destination("shelf"))
    #expect(DayFilesDownload.folder(of: section) == "/srv/shelf/of/ada/")
  }

  @Test("of a listing, only what is in the collection, under names that lead nowhere else")
  func listings() {
    func response(_ href: String, _ isCollection: Bool = false) -> String {
      """
      <D:response><D:href>\(href)</D:href><D:propstat><D:prop><D:resourcetype>\
      \(isCollection ? "<D:collection/>" : "")</D:resourcetype>\
      <D:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</D:getlastmodified></D:prop></D:propstat></D:response>
      """
    }
    let own = "http://example.org/dav/v1/steps/2024/"
    let body =
      "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">" + response(own, true)
      + response("\(own)01/", true) + response("/dav/v1/steps/2024/2024/", true) + response("/dav/v1/steps/2024/a%20b")
      + response("/dav/v1/steps/2024/..", true) + response("/dav/v1/steps/2024/%2e%2e/", true)
      + response("/dav/v1/steps/2024/x%2Fy") + response("/dav/v1/steps/2024/01/02/", true)
      + response("/dav/v1/steps/2024/%zz") + "</D:multistatus>"
    let members = WebDAVListing(Array(body.utf8)).members
    #expect(members.map(\.name) == ["01", "2024", "a b"])
    #expect(members.map(\.isCollection) == [true, true, false])
    #expect(members.first?.modified == Timestamp(iso8601: "1994-11-06T08:49:37Z"))
    #expect(WebDAVListing(Array("<html><body>hello</body></html>".utf8)).members == [])
    #expect(WebDAVListing([]).members == [])
  }
}
