import Foundation
import HealthModel
import OperatingSystem
import Synchronization

/// The shared connection of a destination's deliveries, established when needed, and the known state of the broker.
actor MQTTSession {
  struct Connection {
    let client: MQTTClient
    /// Whether the broker lacked the last delivery when the connection was established.
    let isForgetful: Bool
    /// Whether that was observed. Otherwise the broker's state cannot be read, and a loss is assumed.
    let hasLooked: Bool
    /// The types whose discovery messages were sent over this connection.
    let announced: Set<SampleType>
  }

  /// The time to wait for a published message to come back.
  private static let patience = Duration.seconds(5)

  private let configuration: MQTTConfiguration
  private let topics: MQTTTopics
  private let quality: MQTTMessage.Quality
  private let saysOfflineAtEnd: Bool
  private var client: MQTTClient?
  private var isForgetful = false
  private var hasLooked = false
  private var announced: Set<SampleType> = []

  init(
    _ configuration: MQTTConfiguration, _ topics: MQTTTopics, _ quality: MQTTMessage.Quality, saysOfflineAtEnd: Bool
  ) {
    var configuration = configuration
    configuration.will = MQTTMessage(topics.status, Array("offline".utf8), quality: quality)
    (self.configuration, self.topics, self.quality) = (configuration, topics, quality)
    self.saysOfflineAtEnd = saysOfflineAtEnd
  }

  /// Returns the open connection, or establishes a new one.
  ///
  /// - Parameter deliveries: the keys of the deliveries that the broker may have; empty before the first.
  func open(after deliveries: Set<String>) async throws -> Connection {
    if let client, client.isConnected { return connection(client) }
    let client = try await MQTTClient(configuration)
    (isForgetful, hasLooked) = try await greet(client, after: deliveries)
    self.client = client
    announced = []
    return connection(client)
  }

  private func connection(_ client: MQTTClient) -> Connection {
    Connection(client: client, isForgetful: isForgetful, hasLooked: hasLooked, announced: announced)
  }

  /// Records the types whose messages the broker has acknowledged.
  func published(_ types: Set<SampleType>, over connection: Connection) {
    guard client === connection.client else { return }
    announced.formUnion(types)
    isForgetful = false
  }

  /// Ends the connection.
  ///
  /// - Parameter isSilent: whether to omit the offline message.
  func close(isSilent: Bool = false) async {
    guard let client else { return }
    self.client = nil
    if saysOfflineAtEnd, !isSilent, client.isConnected {
      try? await client.publish([MQTTMessage(topics.status, Array("offline".utf8), quality: quality)])
    }
    client.disconnect()
  }

  /// Publishes that the person is online, and checks which delivery the broker has retained.
  private func greet(
    _ client: MQTTClient, after deliveries: Set<String>
  ) async throws -> (isForgetful: Bool, hasLooked: Bool) {
    let online = MQTTMessage(topics.status, Array("online".utf8), quality: quality)
    if configuration.version == .v3 {
      // MQTT 3.1.1 has no limit for packet sizes, and another client may have retained a message of any size.
      try await client.publish([online])
      return (true, false)
    }
    let first = MQTTReply<Bool>()
    let witness = Mutex<MQTTWitness?>(nil)
    do {
      try await client.subscribe(topics.delivery) { message in
        if message.isRetained { witness.withLock { $0 = MQTTWitness(message.payload) } }
      }
      // The retained message arrives before the new one, which isn't marked as retained.
      try await client.subscribe(topics.status) { first.answer(.success($0.isRetained)) }
    } catch DeliveryError.unusable {
      try await client.publish([online])
      return (true, false)
    }
    try await client.publish([online])
    let wasRetained = try? await within(Self.patience, orThrow: CancellationError()) { try await first.value() }
    try Task.checkCancellation()
    let found = witness.withLock { $0?.anchor }
    let isOther = !deliveries.isEmpty && !(found.map(deliveries.contains) ?? false)
    return (wasRetained != true || isOther, wasRetained != nil)
  }

  /// Publishes a message, waits until it comes back and deletes it.
  ///
  /// - Parameter record: the identifier of the store. If the broker has values of another record, the check fails.
  func probe(for record: String) async throws {
    var configuration = configuration
    configuration.will = nil
    configuration.clientID += "-probe"
    let client = try await MQTTClient(configuration)
    defer { client.disconnect() }
    let quality: MQTTMessage.Quality = self.quality == .atMostOnce ? .atLeastOnce : self.quality
    let text = Array(UUID().uuidString.utf8)
    let probe = MQTTMessage(topics.probe, text, quality: quality)
    let seen = MQTTReply<Void>()
    var isReadable = true
    let other = Mutex<MQTTWitness?>(nil)
    if configuration.version == .v5 {
      do {
        try await client.subscribe(topics.delivery) { message in
          other.withLock { $0 = MQTTWitness(message.payload) }
        }
      } catch DeliveryError.unusable {
        // The user may only be allowed to publish.
      }
    }
    // MQTT 3.1.1 doesn't limit packets, so the probe first replaces whatever another client has retained.
    if configuration.version == .v3 { try await client.publish([probe]) }
    do {
      try await client.subscribe(topics.probe) { if $0.payload == text { seen.answer(.success(())) } }
    } catch DeliveryError.unusable {
      isReadable = false
    }
    if configuration.version == .v5 { try await client.publish([probe]) }
    // A 3.1.1 broker acknowledges messages even if it discards them.
    if isReadable || configuration.version == .v3 {
      let silent = DeliveryError.unusable(
        reason:
          "\(configuration.host) does not show what is published to \(topics.probe): this user may not write or not "
          + "read below \(topics.base)")
      do {
        try await within(Self.patience, orThrow: silent) { try await seen.value() }
      } catch  where configuration.version == .v5 {
        // MQTT 5 has acknowledged the message, so only reading is forbidden, which is not needed.
        try Task.checkCancellation()
      }
    }
    try await client.publish([MQTTMessage(topics.probe, [], quality: quality)])
    if let other = other.withLock(\.self), other.record != record {
      throw DeliveryError.unusable(reason: ForeignRecord.reason("below \(topics.base)"))
    }
  }
}
