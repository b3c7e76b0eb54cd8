import Foundation
import HealthAnalysis
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite(
  "MQTT", .enabled(if: MosquittoBroker.isInstalled, Comment(rawValue: MosquittoBroker.missing)),
  .timeLimit(.minutes(5)))
struct MQTTDestinationTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  private func destination(
    _ broker: MosquittoBroker, _ values: [String: DestinationSettings.Value] = [:], secrets: [String: String] = [:]
  ) throws -> MQTTDestination {
    let settings = values.merging(
      ["url": .text("mqtt://127.0.0.1:\(broker.port)"), "person": .text("ada")], uniquingKeysWith: { own, _ in own })
    return try MQTTDestination(
      DestinationSettings(settings, of: MQTTDestination.self), in: fixture.environment(secrets))
  }

  private func reason(_ work: () async throws -> Void) async -> DeliveryError? {
    do {
      try await work()
      return nil
    } catch {
      return error as? DeliveryError
    }
  }

  private static let vitamin = SampleType("HKQuantityTypeIdentifierDietaryVitaminB12")

  private func json(_ text: String?) throws -> [String: JSONValue] {
    guard case .object(let members) = try CanonicalJSON.decode(JSONValue.self, try #require(text)) else { return [:] }
    return members
  }

  @Test(
    "a retained value for each type, right totals, and what is deleted gives way to what is left",
    arguments: [("5", 1), ("3.1.1", 1), ("5", 0), ("5", 2), ("3.1.1", 2)])
  func values(version: String, quality: Int) async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let place = try destination(
      broker, ["version": .text(version), "qos": .integer(quality), "discovery": .boolean(true)])
    let weights = [80.0, 81.5].enumerated().map {
      fixture.quantity(RecordFixture.bodyMass, $1, "kg", ago: 7_200 - Int64($0) * 600)
    }
    try await fixture.add(
      weights + [
        fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200),
        fixture.quantity(RecordFixture.steps, 300, "count", ago: 3_600),
        fixture.quantity(RecordFixture.oxygen, 0.97, "%", ago: 3_600), fixture.stage(.asleepCore, hours: 5...12),
        fixture.quantity(Self.vitamin, 0.4, "mcg", ago: 3_600),
      ])
    try await fixture.deliver(to: place)
    var found = try broker.retained()
    #expect(found["hpeer/ada/status"] == "online")
    let steps = try json(found["hpeer/ada/stepCount"])
    #expect(steps["value"] == .integer(800))
    #expect(steps["unit"] == .string("steps"))
    #expect(steps["source"] == .string("Watch"))
    #expect(steps["anchor"] != nil && steps["start"] != nil && steps["end"] != nil)
    #expect(try json(found["hpeer/ada/bodyMass"])["value"] == .number(81.5))
    #expect(try json(found["hpeer/ada/oxygenSaturation"])["value"] == .integer(97))
    #expect(try json(found["hpeer/ada/sleepAnalysis"])["value"] == .integer(7))
    // All of its digits: of a gram it is little, and not nothing.
    #expect(try json(found["hpeer/ada/dietaryVitaminB12"])["value"] == .number(0.0000004))
    let sensor = try json(found["homeassistant/sensor/hpeer_ada/body_mass/config"])
    #expect(sensor["state_topic"] == .string("hpeer/ada/bodyMass"))
    #expect(sensor["device_class"] == .string("weight"))
    #expect(sensor["default_entity_id"] == .string("sensor.hpeer_ada_body_mass") && sensor["state_class"] != nil)
    let counter = try json(found["homeassistant/sensor/hpeer_ada/step_count/config"])
    #expect(counter["state_class"] == .string("total"))
    #expect(counter["last_reset_value_template"] == .string("{{ value_json.start }}"))

    try await fixture.delete([weights[1]])
    try await fixture.deliver(to: place)
    found = try broker.retained(below: "hpeer/#")
    #expect(try json(found["hpeer/ada/bodyMass"])["value"] == .integer(80))
    try await fixture.delete([weights[0]])
    try await fixture.deliver(to: place)
    await place.close()
    found = try broker.retained()
    #expect(found["hpeer/ada/bodyMass"] == nil)
    #expect(found["homeassistant/sensor/hpeer_ada/body_mass/config"] == nil)
    #expect(found["hpeer/ada/status"] == "online")
  }

  @Test("types with names that no topic can have are refused by name, and keep no other away")
  func foreignNames() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let place = try destination(broker, ["discovery": .boolean(true)])
    let long = SampleType(String(repeating: "x", count: 70_000))
    try await fixture.add([
      fixture.quantity(SampleType("a\u{85}b"), 1, "count", ago: 600), fixture.quantity(long, 2, "count", ago: 600),
      fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200),
    ])
    let report = try await fixture.deliver(to: place)
    #expect(report.refused == 1 && report.delivered == 2, "\(report)")
    let found = try broker.retained(below: "hpeer/#")
    #expect(try json(found["hpeer/ada/stepCount"])["value"] == .integer(500))
    #expect(try json(found["hpeer/ada/a_b"])["value"] == .integer(1))
    #expect(try await fixture.deliver(to: place) == CourierReport())
    await place.close()
  }

  @Test("a broker that is killed and has lost everything has all of it again")
  func restart() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let place = try destination(broker)
    try await fixture.add([
      fixture.quantity(RecordFixture.bodyMass, 80, "kg", ago: 600),
      fixture.quantity(RecordFixture.steps, 5, "count", ago: 600),
    ])
    try await fixture.deliver(to: place)
    broker.kill()
    try await fixture.add([fixture.quantity(RecordFixture.oxygen, 0.9, "%", ago: 600)])
    await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
    try broker.start()
    try await fixture.deliver(to: place)
    let found = try broker.retained()
    let topics = ["delivery", "status", "bodyMass", "stepCount", "oxygenSaturation"]
    #expect(Set(found.keys) == topics.map { "hpeer/ada/\($0)" }.asSet)
    await place.close()
  }

  @Test("what others publish where hpeer reads is not taken however large it is")
  func tooLarge() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let client = try await MQTTClient(MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientID: "test"))
    let first = MQTTReply<Int>()
    try await client.subscribe("t") { first.answer(.success($0.payload.count)) }
    let other = try await MQTTClient(MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientID: "other"))
    for count in [1_000_000, 3] {
      try await other.publish([MQTTMessage("t", [UInt8](repeating: 0x78, count: count), isRetained: false)])
    }
    #expect(try await first.value() == 3)
    other.disconnect()
    client.disconnect()
  }

  @Test("what others have left where hpeer writes is not taken from a broker of 3.1.1, however large it is")
  func largeRetained() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let other = try await MQTTClient(MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientID: "other"))
    let large = [UInt8](repeating: 0x78, count: 2_000_000)
    try await other.publish([MQTTMessage("hpeer/ada/status", large), MQTTMessage("hpeer/ada/probe", large)])
    other.disconnect()
    let relay = try Relay(to: broker.port)
    let place = try destination(
      broker, ["url": .text("mqtt://127.0.0.1:\(relay.port)"), "version": .text("3.1.1")])
    try await place.check()
    try await fixture.add([fixture.quantity(RecordFixture.steps, 5, "count", ago: 600)])
    try await fixture.deliver(to: place)
    #expect(relay.passed(.toClient) < 100_000)
    #expect(try broker.retained()["hpeer/ada/stepCount"] != nil)
    await place.close()
  }

  @Test("what is in flight when the broker is killed is an error and nothing hangs")
  func killedInTheMiddle() async throws {
    let broker = try MosquittoBroker(["max_inflight_messages 1"])
    try broker.start()
    let client = try await MQTTClient(
      MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientID: "test"))
    let messages = (0..<50_000).map { MQTTMessage("t/\($0)", Array("x".utf8), isRetained: false) }
    let arrived = MQTTReply<Void>()
    try await client.subscribe("t/10") { _ in arrived.answer(.success(())) }
    async let result = reason { try await client.publish(messages) }
    try await arrived.value()
    broker.kill()
    guard case .temporary? = await result else {
      Issue.record("no error")
      return
    }
    #expect(!client.isConnected)
    #expect(await reason { try await client.publish([MQTTMessage("t", [])]) } != nil)
  }

  @Test("no more is in flight than the broker allows, which ends the connection otherwise", arguments: [1, 2, 20])
  func receiveMaximum(_ maximum: Int) async throws {
    let broker = try MosquittoBroker(["max_inflight_messages \(maximum)"])
    try broker.start()
    for version in [MQTTConfiguration.Version.v5, .v3] {
      let client = try await MQTTClient(
        MQTTConfiguration(host: "127.0.0.1", port: broker.port, version: version, clientID: "test"))
      // The last ones are acknowledged: who asks for what is retained then finds all of it.
      for quality in [MQTTMessage.Quality.atMostOnce, .atLeastOnce, .exactlyOnce] {
        try await client.publish((0..<500).map { MQTTMessage("t/\($0 % 50)", Array("\($0)".utf8), quality: quality) })
      }
      #expect(client.isConnected)
      client.disconnect()
    }
    let found = try broker.retained()
    #expect(found.count == 50)
    #expect(found["t/49"] == "499")
  }

  @Test("the broker says offline when the connection is lost, and not when it ends in order")
  func will() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let relay = try Relay(to: broker.port)
    let place = try destination(broker, ["url": .text("mqtt://127.0.0.1:\(relay.port)")])
    try await fixture.add([fixture.quantity(RecordFixture.bodyMass, 80, "kg", ago: 600)])
    try await fixture.deliver(to: place)
    relay.close()
    var status: String?
    for _ in 0..<20 where status != "offline" { status = try broker.retained()["hpeer/ada/status"] }
    #expect(status == "offline")
    let other = try destination(broker, ["offline-at-end": .boolean(true)])
    try await fixture.deliver(to: other, named: "other")
    #expect(try broker.retained()["hpeer/ada/status"] == "online")
    await other.close()
    #expect(try broker.retained()["hpeer/ada/status"] == "offline")
  }

  // MARK: Checking

  @Test("a check leaves nothing behind and says what is wrong in a sentence", arguments: ["5", "3.1.1"])
  func check(version: String) async throws {
    let broker = try MosquittoBroker(
      ["allow_anonymous false", "password_file DIR/passwords", "acl_file DIR/acl"],
      files: [
        "passwords": "ada:secret\ndan:secret\n",
        "acl": "user ada\ntopic readwrite hpeer/ada/#\nuser dan\ntopic read #\n",
      ])
    let passwords = Process()
    passwords.executableURL = URL(filePath: "/usr/bin/mosquitto_passwd")
    passwords.arguments = ["-U", broker.directory.path("passwords")]
    try passwords.run()
    passwords.waitUntilExit()
    try broker.start()
    func place(_ user: String, password: String = "secret", _ url: String? = nil) throws -> MQTTDestination {
      var values: [String: DestinationSettings.Value] = [
        "version": .text(version), "user": .text(user), "password": .text("env:PASSWORD"),
      ]
      values["url"] = url.map { .text($0) }
      return try destination(broker, values, secrets: ["PASSWORD": password])
    }
    let good = try place("ada")
    try await good.check()
    try await fixture.add([fixture.quantity(RecordFixture.bodyMass, 80, "kg", ago: 600)])
    try await fixture.deliver(to: good)
    await good.close()
    let found = try broker.retained(["-u", "ada", "-P", "secret"])
    #expect(Set(found.keys) == ["hpeer/ada/delivery", "hpeer/ada/status", "hpeer/ada/bodyMass"])

    let wrong = try #require(await reason { try await place("ada", password: "guess").check() })
    if version == "5" {
      #expect("\(wrong)" == "127.0.0.1 does not let this user in: check user, password and certificate")
    } else {
      #expect("\(wrong)".contains("127.0.0.1"))
    }
    guard case .unusable(let refused)? = await reason({ try await place("dan").check() }) else {
      Issue.record("not refused")
      return
    }
    if version == "5" {
      #expect(refused == "127.0.0.1 does not let this user publish to hpeer/ada/probe")
      await #expect(throws: CourierError.self) { try await fixture.deliver(to: try place("dan"), named: "dan") }
    } else {
      #expect(refused.contains("may not write or not read"))
    }
    broker.kill()
    #expect(
      await reason { try await good.check() }
        == .temporary(reason: "127.0.0.1 refuses the connection: does the broker run, and is the port right?"))
    let nowhere = try place("ada", "mqtts://nowhere.invalid")
    #expect(await reason { try await nowhere.check() } == .temporary(reason: "the name nowhere.invalid is not known"))
  }

  @Test("TLS: the authority is checked, and the name, and a certificate of ours is shown")
  func tls() async throws {
    let authority = try TestAuthority()
    let server = try authority.sign("server", names: "DNS:localhost")
    let own = try authority.sign("ada", names: "DNS:ada")
    let lines = ["certfile \(server.certificate)", "keyfile \(server.key)", "cafile \(authority.certificate)"]
    let broker = try MosquittoBroker(lines)
    let strict = try MosquittoBroker(lines + ["require_certificate true"])
    try broker.start()
    try strict.start()
    func place(_ broker: MosquittoBroker, _ host: String, _ values: [String: DestinationSettings.Value]) throws
      -> MQTTDestination
    {
      try destination(broker, values.merging(["url": .text("mqtts://\(host):\(broker.port)")]) { own, _ in own })
    }
    let ca = ["ca": DestinationSettings.Value.text(authority.certificate)]
    let certificate: [String: DestinationSettings.Value] = [
      "client-certificate": .text(own.certificate), "client-key": .text(own.key),
    ]
    try await place(broker, "localhost", ca).check()
    try await place(strict, "localhost", ca.merging(certificate) { own, _ in own }).check()
    #expect(
      await reason { try await place(broker, "localhost", [:]).check() }
        == .unusable(
          reason:
            "the certificate of localhost is not trusted or not valid now: set ca to the authority that has signed it"))
    #expect(
      await reason { try await place(broker, "127.0.0.1", ca).check() }
        == .unusable(
          reason: "the certificate of 127.0.0.1 is for another name: put that name into url, or renew it"))
    // Whether the alert that says so arrives before the connection is gone is for the network to decide.
    let failure = MQTTFailure(host: "localhost", version: .v5)
    for _ in 0..<10 {
      let wanted = await reason { try await place(strict, "localhost", ca).check() }
      #expect(wanted == failure.wantsCertificate || wanted == failure.endedAfterHandshake, "\(wanted as Any)")
    }
    let plain = try MosquittoBroker()
    try plain.start()
    #expect(
      await reason { try await place(plain, "localhost", ca).check() } != nil)
  }

  @Test(
    "a broker that ends connections without a word may want a certificate, and is asked some times before that is said")
  func silentBroker() async throws {
    let authority = try TestAuthority()
    let server = try authority.sign("server", names: "DNS:localhost")
    // Takes the handshake, reads what comes first, and leaves.
    let program = """
      import socket, ssl, sys
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain(sys.argv[1], sys.argv[2])
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1], flush=True)
      while True:
          connection, _ = listener.accept()
          try:
              with context.wrap_socket(connection, server_side=True) as wrapped: wrapped.recv(1)
              print("asked", flush=True)
          except OSError: pass
      """
    let broker = try ServerProcess(
      "/usr/bin/python3", ["-c", program, server.certificate, server.key], until: "port ")
    let place = try MQTTDestination(
      DestinationSettings(
        ["url": .text("mqtts://localhost:\(broker.port)"), "ca": .text(authority.certificate)],
        of: MQTTDestination.self), in: fixture.environment())
    let said = try #require(await reason { try await place.check() })
    #expect(said == MQTTFailure(host: "localhost", version: .v5).endedAfterHandshake)
  }

  // MARK: Settings

  @Test("settings that make no sense are refused with their key")
  func settings() throws {
    let broker = try MosquittoBroker()
    func key(_ values: [String: DestinationSettings.Value]) -> String? {
      do {
        _ = try destination(broker, values)
        return nil
      } catch {
        return (error as? SettingsError)?.key
      }
    }
    #expect(key([:]) == nil)
    #expect(key(["url": .text("mqtt://broker.example")]) == "url")
    #expect(key(["url": .text("mqtt://broker.example"), "send-unencrypted": .boolean(true)]) == nil)
    #expect(key(["url": .text("mqtts://broker.example/topic")]) == "url")
    for name in ["Ada L", "_ada", "ada__b", ""] { #expect(key(["person": .text(name)]) == "person") }
    #expect(key(["prefix": .text("a/#")]) == "prefix")
    #expect(key(["discovery": .boolean(true), "discovery-prefix": .text("a//b")]) == "discovery-prefix")
    #expect(key(["password": .text("env:NOT_THERE")]) == "password")
    #expect(key(["url": .text("mqtts://b.example"), "client-key": .text("/etc/passwd")]) == "client-key")
    #expect(key(["url": .text("mqtts://b.example"), "ca": .text("/nonexistent")]) == "ca")
  }

  @Test(
    "a type's name is one level of a topic",
    arguments: [
      ("stepCount", "stepCount"), ("a/b+c#", "a_b_c_"), ("", "_"), ("status", "_status"), ("x\0y", "x_y"), ("健康", "健康"),
      ("a\u{85}b\u{9F}", "a_b_"),
    ])
  func levels(name: String, level: String) { #expect(MQTTTopics.level(name) == level) }
}

extension [String] {
  fileprivate var asSet: Set<String> { Set(self) }
}
