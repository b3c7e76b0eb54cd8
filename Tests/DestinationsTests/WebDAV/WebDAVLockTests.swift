import Foundation
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

@Suite("WebDAV locks", .serialized, .timeLimit(.minutes(5)))
struct WebDAVLockTests {
  private let home: DestinationHome

  init() throws { home = try DestinationHome() }

  private func destination(
    _ url: String, _ changes: [String: DestinationSettings.Value] = [:], in home: DestinationHome? = nil
  ) throws -> WebDAVDestination {
    let settings: [String: DestinationSettings.Value] = [
      "url": .text(url), "username": .text("ada"), "password": .text("env:PASSWORD"),
    ]
    return try (home ?? self.home).make(
      WebDAVDestination.self, settings.merging(changes) { $1 }, secrets: ["PASSWORD": "s3cret"])
  }

  @Test(
    "two who write the same files at the same moment lose nothing where locks keep them apart",
    .enabled(if: WebDAVServer.isHere, "\(WebDAVServer.missing)"), arguments: [WebDAVServer.Kind.apache, .rclone])
  func atTheSameMoment(kind: WebDAVServer.Kind) async throws {
    let server = try WebDAVServer(kind)
    let other = try DestinationHome()
    var maker = SampleMaker(seed: 91)
    let (mine, theirs) = ((0..<30).map { maker.steps(at: $0) }, (0..<30).map { maker.steps(at: $0) })
    // In pieces, so that they meet in one file again and again.
    func write(_ samples: [Sample], _ home: DestinationHome) async throws {
      let place = try destination(server.url, in: home)
      for start in stride(from: 0, to: samples.count, by: 5) {
        try await home.add(Array(samples[start..<start + 5]))
        #expect(try await home.deliver(to: place, policy: RetryPolicy()).delivered == 5)
      }
      await place.close()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await write(mine, home) }
      group.addTask { try await write(theirs, other) }
      try await group.waitForAll()
    }
    #expect(try server.records().map(\.uuid).sorted() == (mine + theirs).map(\.uuid.uuidString).sorted())
    // Nothing stays locked.
    let place = try destination(server.url)
    try await place.check()
    await place.close()
  }

  @Test("a server that heeds no conditions is written to under a lock, which is given up")
  func underLock() async throws {
    let server = try ScriptedDAV(.init(classes: "1, 2, access-control"))
    let place = try destination(server.url)
    try await place.check()
    var maker = SampleMaker(seed: 92)
    try await home.add((0..<5).map { maker.steps(at: $0) })
    #expect(try await home.deliver(to: place).delivered == 5)
    await place.close()
    #expect(!server.isLocked)
    let data = try #require(server.files.keys.first { $0.hasSuffix("data.jsonl") })
    let writes = server.requests.filter { $0.method == "PUT" && $0.target == data }
    #expect(writes.count == 1)
    let folder = data.dropLast("data.jsonl".count)
    #expect(writes.first?.headers["if"]?.hasPrefix("<\(server.url.dropLast())\(folder)> (<opaquelocktoken:") == true)
  }

  @Test("a lock that the server has lost is asked for again, and the file is merged anew")
  func lost() async throws {
    let server = try ScriptedDAV(.init(classes: "1, 2", lostLocks: 2))
    let place = try destination(server.url)
    var maker = SampleMaker(seed: 96)
    try await home.add((0..<3).map { maker.steps(at: $0) })
    #expect(try await home.deliver(to: place).delivered == 3)
    await place.close()
    #expect(!server.isLocked)
    let data = try #require(server.files.keys.first { $0.hasSuffix("data.jsonl") })
    #expect(server.requests.count { $0.method == "PUT" && $0.target == data } == 3)
  }

  @Test("under locks, one file is written at a time")
  func oneAtATime() async throws {
    let locked = try destination(try ScriptedDAV(.init(classes: "1, 2")).url)
    #expect(try await locked.store.concurrentWrites() == 1)
    await locked.close()
    let alone = try destination("http://127.0.0.1:1/", ["only-writer": .boolean(true)])
    #expect(try await alone.store.concurrentWrites() > 1)
    await alone.close()
  }

  @Test("the only writer needs no ETags, and isn't held up by weak ones", arguments: ["", "W/\"1\""])
  func weakTags(tag: String) async throws {
    let endpoint = try RawEndpoint { exchange in
      switch exchange.request.method {
      case "GET": exchange.answer(200, tag.isEmpty ? [:] : ["ETag": tag], "old")
      // A weak ETag never matches (RFC 9110, section 13.1.1).
      case "PUT": exchange.answer(exchange.request.headers["if-match"] == nil ? 204 : 412)
      default: exchange.answer(405)
      }
    }
    let place = try destination(endpoint.url, ["only-writer": .boolean(true)])
    let object = try #require(try await place.store.get("a/b.jsonl"))
    try await place.store.put(
      Array("new".utf8), at: "a/b.jsonl", contentType: "text/plain", if: .unchanged(object.version))
    await place.close()
    #expect(endpoint.requests.map(\.method) == ["GET", "PUT"])
  }

  @Test("a lock is refreshed while a file is being written")
  func refreshed() async throws {
    let isTooLate = Mutex(false)
    let server = try ScriptedDAV(.init(classes: "1, 2", timeout: "Second-2")) { server, target in
      guard target.hasSuffix("data.jsonl") else { return }
      // The file is taken no sooner than the lock was refreshed.
      let deadline = ContinuousClock.now + .seconds(60)
      while server.refreshes == 0, ContinuousClock.now < deadline { usleep(10_000) }
      if server.refreshes == 0 { isTooLate.withLock { $0 = true } }
    }
    let place = try destination(server.url)
    var maker = SampleMaker(seed: 93)
    try await home.add([maker.steps(at: 0)])
    #expect(try await home.deliver(to: place).delivered == 1)
    await place.close()
    #expect(!isTooLate.withLock(\.self) && server.refreshes > 0 && !server.isLocked)
  }

  @Test(
    "a server without conditions, whose locks are none either, is refused, unless no other program writes there",
    arguments: ["1", "1, 2"])
  func neither(classes: String) async throws {
    let server = try ScriptedDAV(.init(classes: classes, meansLocks: false))
    let place = try destination(server.url)
    await #expect { try await place.check() } throws: { "\($0)".contains("it overwrites what is there") }
    var maker = SampleMaker(seed: 94)
    try await home.add([maker.steps(at: 0)])
    // Not at set-up alone: what is delivered without that is refused, too.
    await #expect(throws: CourierError.self) { try await home.deliver(to: place) }
    await place.close()
    #expect(server.files.isEmpty)
    let alone = try destination(server.url, ["only-writer": .boolean(true)])
    try await alone.check()
    #expect(try await home.deliver(to: alone).delivered == 1)
    await alone.close()
    #expect(server.files.keys.contains { $0.hasSuffix("data.jsonl") })
  }

  @Test("a request that a proxy sends twice is not taken for a refusal, and what it wrote is there once")
  func twice() async throws {
    let server = try ScriptedDAV(.init(heedsConditions: true, getsWritesTwice: true))
    let place = try destination(server.url)
    var maker = SampleMaker(seed: 97)
    try await home.add([maker.steps(at: 0)])
    #expect(try await home.deliver(to: place).delivered == 1)
    await place.close()
    let data = try #require(server.files.first { $0.key.hasSuffix("data.jsonl") })
    #expect(data.value.split(separator: UInt8(ascii: "\n")).count == 1)
    #expect(!server.files.keys.contains { $0.contains("hpeer-probe") })
  }

  @Test("a page for people is no write, under a lock either")
  func page() async throws {
    let server = try ScriptedDAV(.init(classes: "1, 2", showsPageUnderLock: true))
    let place = try destination(server.url)
    await #expect {
      try await place.store.put([1], at: "a/b", contentType: "text/plain", if: .absent)
    } throws: { error in
      if case DeliveryError.unusable(let reason) = error { reason.contains("a page for people") } else { false }
    }
    await place.close()
    #expect(server.files["/a/b"] == nil && !server.isLocked)
  }

  @Test("what a server does is found out once, and again where that was lost")
  func foundOutOnce() async throws {
    let server = try ScriptedDAV(.init(classes: "1, 2"))
    func deliver(at minute: Int) async throws {
      var maker = SampleMaker(seed: UInt64(95 + minute))
      try await home.add([maker.steps(at: minute)])
      let place = try destination(server.url)
      _ = try await home.deliver(to: place)
      await place.close()
    }
    func questions() -> Int { server.requests.count { $0.method == "OPTIONS" } }
    try await deliver(at: 0)
    try await deliver(at: 1)
    #expect(questions() == 1)
    try FileManager.default.removeItem(atPath: home.directory.path("state"))
    try await deliver(at: 2)
    #expect(questions() == 2)
  }

  @Test("who waits for another's lock goes on when it is given up, and says so when it is not")
  func waiting() async throws {
    let server = try ScriptedDAV(.init(classes: "1, 2"))
    let place = try destination(server.url)
    var maker = SampleMaker(seed: 99)
    try await home.add([maker.steps(at: 0)])
    _ = try await home.deliver(to: place)
    let data = try #require(server.files.keys.first { $0.hasSuffix("data.jsonl") })
    let folder = String(data.dropFirst().dropLast("data.jsonl".count))
    // Another program holds it, and gives it up once it was asked for in vain.
    let lock = try #require(
      WebDAVLock(try await place.store.ask("LOCK", folder, [("Depth", "infinity")]), name: folder, url: ""))
    try await home.add([maker.steps(at: 1)])
    async let report = home.deliver(to: place)
    while server.requests.last(where: { $0.method == "LOCK" && $0.target == "/\(folder)" })?.body.isEmpty != false {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(try await place.store.ask("UNLOCK", folder, [("Lock-Token", lock.token)]).status == 200)
    #expect(try await report.delivered == 1)
    await place.close()
  }

  @Test("what a conflict is about stays, whatever a lock was answered with; an empty file that a lock has made goes")
  func conflictUnderLock() async throws {
    let server = try ScriptedDAV(.init(classes: "1, 2", createsWithLocks: true))
    let store = try destination(server.url).store
    func put(_ text: String, at name: String, if condition: PutCondition) async throws {
      try await store.put(Array(text.utf8), at: name, contentType: "text/plain", if: condition)
    }
    let version = WebDAVObjectStore.version(Array("another's".utf8))
    for name in ["folder/file", "file"] {
      try await put("theirs", at: name, if: .absent)
      await #expect(throws: ObjectConflict.self) { try await put("mine", at: name, if: .absent) }
      await #expect(throws: ObjectConflict.self) { try await put("mine", at: name, if: .unchanged(version)) }
      #expect(server.files["/\(name)"] == Array("theirs".utf8))
    }
    await #expect(throws: ObjectConflict.self) { try await put("mine", at: "gone", if: .unchanged(version)) }
    #expect(server.files["/gone"] == nil && !server.isLocked)
    await store.service.close()
  }

  @Test("tokens and timeouts are taken as far as they make sense")
  func texts() {
    #expect(WebDAVLock.token("<opaquelocktoken:8ab4dedc>") == "<opaquelocktoken:8ab4dedc>")
    #expect(WebDAVLock.token(" <1795636652> ") == "<1795636652>")
    for text in [
      nil, "", "<>", "opaquelocktoken:1", "<a b>", "<a>)(<b>", "<\(String(repeating: "a", count: 600))>", "<ä>",
    ] {
      #expect(WebDAVLock.token(text) == nil, "\(text ?? "nil")")
    }
    func timeout(_ text: String) -> Duration {
      WebDAVLock.timeout(in: Array("<d:prop><d:timeout>\(text)</d:timeout></d:prop>".utf8))
    }
    #expect(timeout("Second-20") == .seconds(20))
    #expect(timeout("Second-0") == .seconds(2) && timeout("Second--5") == .seconds(2))
    #expect(timeout("Infinite") == WebDAVLock.asked && timeout("Second-99999999999999") == WebDAVLock.asked)
    #expect(WebDAVLock.timeout(in: []) == WebDAVLock.asked)
  }
}
