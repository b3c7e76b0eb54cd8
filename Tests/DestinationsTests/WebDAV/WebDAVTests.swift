import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

@Suite("WebDAV", .serialized, .timeLimit(.minutes(2)), .enabled(if: WebDAVServer.isHere, "\(WebDAVServer.missing)"))
struct WebDAVTests {
  private let home: DestinationHome

  init() throws { home = try DestinationHome() }

  private func settings(
    _ server: WebDAVServer, _ changes: [String: DestinationSettings.Value] = [:]
  ) -> [String: DestinationSettings.Value] {
    ["url": .text(server.url), "user": .text("ada"), "password": .text("env:PASSWORD")].merging(changes) { $1 }
  }

  private func destination(
    _ server: WebDAVServer, _ changes: [String: DestinationSettings.Value] = [:], password: String = "s3cret",
    in home: DestinationHome? = nil
  ) throws -> WebDAVDestination {
    try (home ?? self.home).make(
      WebDAVDestination.self, settings(server, changes), secrets: ["PASSWORD": password])
  }

  /// All records by UUID, with `deleted`.
  private func records(_ server: WebDAVServer) throws -> [String: Bool] {
    var records: [String: Bool] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: server.files) ?? .init()
    where name.hasSuffix("data.jsonl") {
      for line in try String(contentsOfFile: "\(server.files)/\(name)", encoding: .utf8).split(separator: "\n") {
        let record = try JSONDecoder().decode([String: JSONValue].self, from: Data(line.utf8))
        guard case .string(let uuid)? = record["uuid"] else { continue }
        #expect(records[uuid] == nil)
        records[uuid] = record["deleted"] == .bool(true)
      }
    }
    return records
  }

  @Test(
    "two writers at once lose nothing, and what is deleted is marked so",
    arguments: [WebDAVServer.Kind.wsgidav, .apache])
  func delivery(kind: WebDAVServer.Kind) async throws {
    let server = try WebDAVServer(kind)
    let other = try DestinationHome()
    var maker = SampleMaker(seed: 9)
    let (first, second) = ((0..<40).map { maker.steps(at: $0 * 60) }, (0..<40).map { maker.steps(at: $0 * 60 + 5) })
    try await home.add(first)
    try await other.add(second)
    let (place, same) = (try destination(server), try destination(server, in: other))
    try await place.check()
    async let one = home.courier(to: place).run()
    async let two = other.courier(to: same).run()
    #expect(try await one.delivered + two.delivered == 80)
    try await home.delete([first[7]])
    _ = try await home.deliver(to: place)
    await place.close()
    await same.close()
    let records = try records(server)
    #expect(Set(records.keys) == Set((first + second).map(\.uuid.uuidString)))
    #expect(records.filter(\.value).map(\.key) == [first[7].uuid.uuidString])
  }

  @Test("a server that overwrites what it was told not to is refused, unless nobody else writes there")
  func careless() async throws {
    let server = try WebDAVServer(.rclone)
    let place = try destination(server)
    await #expect { try await place.check() } throws: { "\($0)".contains("it overwrites what is there") }
    await place.close()
    var maker = SampleMaker(seed: 9)
    try await home.add([maker.steps(at: 0)])
    let alone = try destination(server, ["only-writer": .boolean(true), "prefix": .text("a/b")])
    try await alone.check()
    #expect(try await home.deliver(to: alone).delivered == 1)
    await alone.close()
    #expect(try records(server).count == 1)
  }

  @Test("a wrong password, and a collection that is not there, are said in a sentence")
  func complaints() async throws {
    let server = try WebDAVServer(.wsgidav)
    let wrong = try destination(server, password: "wrong")
    await #expect { try await wrong.check() } throws: { "\($0)".contains("401") && !"\($0)".contains("wrong") }
    await wrong.close()
    let nowhere = try destination(server, ["url": .text(server.url + "a/b/")])
    await #expect { try await nowhere.check() } throws: { "\($0)".contains("there is no collection at url") }
    await nowhere.close()
    #expect(throws: SettingsError.self) {
      let _: WebDAVDestination = try home.make(
        WebDAVDestination.self, ["url": .text("http://192.0.2.1/dav/")])
    }
    #expect(throws: SettingsError.self) {
      let _: WebDAVDestination = try home.make(
        WebDAVDestination.self, ["url": .text(server.url), "password": .text("env:PASSWORD")])
    }
  }
}
