import Foundation
import TestSupport
import Testing

@testable import Destinations

/// Tests of a broker that accepts a connection and then sends nothing, which no real broker does.
@Suite(.timeLimit(.minutes(1))) struct SilentBrokerTests {
  @Test("what is published to a broker that acknowledges nothing fails by its silence, not by a time for all of it")
  func silence() async throws {
    let listener = try ListeningSocket()
    defer { listener.close() }
    let broker = Thread {
      guard let socket = listener.accept() else { return }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      guard read(socket, &bytes, bytes.count) > 0 else { return }
      // CONNACK of MQTT 3.1.1: accepted.
      var answer: [UInt8] = [0x20, 2, 0, 0]
      guard write(socket, &answer, answer.count) == answer.count else { return }
      while read(socket, &bytes, bytes.count) > 0 {}
      close(socket)
    }
    broker.start()
    let configuration = MQTTConfiguration(host: "127.0.0.1", port: listener.port, version: .v3, clientID: "test")
    let client = try await MQTTClient(configuration, patience: .milliseconds(200))
    await #expect(
      throws: DeliveryError.temporary(
        reason: "127.0.0.1 has acknowledged nothing of what was published for 0 s")
    ) {
      try await client.publish([MQTTMessage("a", [1])])
    }
    #expect(!client.isConnected)
  }
}
