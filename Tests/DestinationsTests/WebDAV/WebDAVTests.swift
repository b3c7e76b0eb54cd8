import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

@Suite("WebDAV", .serialized, .timeLimit(.minutes(5)), .enabled(if: WebDAVServer.isHere, "\(WebDAVServer.missing)"))
struct WebDAVTests {
  private let home: DestinationHome

  init() throws { home = try DestinationHome() }

  private func settings(
    _ server: WebDAVServer, _ changes: [String: DestinationSettings.Value] = [:]
  ) -> [String: DestinationSettings.Value] {
    ["url": .text(server.url), "username": .text("ada"), "password": .text("env:PASSWORD")].merging(changes) { $1 }
  }

  private func destination(
    _ server: WebDAVServer, _ changes: [String: DestinationSettings.Value] = [:], password: String = "s3cret",
    in home: DestinationHome? = nil
  ) throws -> WebDAVDestination {
    try (home ?? self.home).make(
      WebDAVDestination.self, settings(server, changes), secrets: ["PASSWORD": password])
  }

  @Test("two writers lose nothing, and what is deleted is marked so", arguments: WebDAVServer.Kind.allCases)
  func delivery(kind: WebDAVServer.Kind) async throws {
    let server = try WebDAVServer(kind)
    let other = try DestinationHome()
    var maker = SampleMaker(seed: 9)
    let (first, second) = ((0..<40).map { maker.steps(at: $0 * 60) }, (0..<40).map { maker.steps(at: $0 * 60 + 5) })
    try await home.add(first)
    try await other.add(second)
    let (place, same) = (try destination(server), try destination(server, in: other))
    try await place.check()
    #expect(try await home.deliver(to: place).delivered == 40)
    // Apache's ETags are weak for a second.
    #expect(try await other.deliver(to: same).delivered == 40)
    try await home.delete([first[7]])
    _ = try await home.deliver(to: place)
    await place.close()
    await same.close()
    let records = try server.records()
    #expect(records.map(\.uuid).sorted() == (first + second).map(\.uuid.uuidString).sorted())
    #expect(records.filter(\.isDeleted).map(\.uuid) == [first[7].uuid.uuidString])
  }

  @Test("what others have written is not overwritten", arguments: WebDAVServer.Kind.allCases)
  func conditions(kind: WebDAVServer.Kind) async throws {
    let server = try WebDAVServer(kind)
    let place = try destination(server)
    let name = "a/b/c.json"
    #expect(try await place.store.get(name) == nil)
    try await place.store.put([1], at: name, contentType: "text/plain", if: .absent)
    await #expect(throws: ObjectConflict.self) {
      try await place.store.put([2], at: name, contentType: "text/plain", if: .absent)
    }
    let object = try #require(try await place.store.get(name))
    #expect(object.bytes == [1])
    try await place.store.put([3, 4], at: name, contentType: "text/plain", if: .unchanged(object.version))
    await #expect(throws: ObjectConflict.self) {
      try await place.store.put([5], at: name, contentType: "text/plain", if: .unchanged(object.version))
    }
    try await place.store.delete(name)
    try await place.store.delete(name)
    #expect(try await place.store.get(name) == nil)
    await place.close()
  }

  @Test("where no other program writes, nothing is locked and nothing is read once more")
  func alone() async throws {
    let server = try WebDAVServer(.rclone)
    var maker = SampleMaker(seed: 9)
    try await home.add([maker.steps(at: 0)])
    let alone = try destination(server, ["only-writer": .boolean(true), "prefix": .text("a/b")])
    try await alone.check()
    #expect(try await home.deliver(to: alone).delivered == 1)
    await alone.close()
    #expect(try server.records().count == 1)
  }

  @Test("new collections of files that are written at once hold all of these")
  func together() async throws {
    let server = try WebDAVServer(.rclone)
    let place = try destination(server, ["only-writer": .boolean(true)])
    // Several times: it is a matter of chance when two requests meet.
    for round in 0..<20 {
      let names = (0..<4).map { "\(round)/v1/\($0)/2024/01/01/data.jsonl" }
      try await withThrowingTaskGroup { group in
        for name in names {
          group.addTask { try await place.store.put([1], at: name, contentType: "text/plain", if: .always) }
        }
        try await group.waitForAll()
      }
      for name in names { #expect(try await place.store.get(name)?.bytes == [1]) }
    }
    await place.close()
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
