import Foundation
import HealthModel
import OperatingSystem
import Synchronization

/// The connection that deliveries share, made when it is needed, and what is known of the broker over it.
actor MQTTSession {
  struct Connection {
    let client: MQTTClient
    /// Whether the broker had not what it was given when the connection was made.
    let isForgetful: Bool
    /// Whether that was seen there; otherwise it cannot be known, and is assumed.
    let hasLooked: Bool
    /// Types that Home Assistant was told of over this connection.
    let announced: Set<SampleType>
  }

  /// How long what is published is waited for to come back.
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

  /// The connection that there is, or a new one.
  ///
  /// - Parameter deliveries: by one of which the broker was given its values last; empty before any.
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

  /// Takes note of what the broker has acknowledged.
  func published(_ types: Set<SampleType>, over connection: Connection) {
    guard client === connection.client else { return }
    announced.formUnion(types)
    isForgetful = false
  }

  /// Ends the connection.
  ///
  /// - Parameter isSilent: whether nothing is said of it.
  func close(isSilent: Bool = false) async {
    guard let client else { return }
    self.client = nil
    if saysOfflineAtEnd, !isSilent, client.isConnected {
      try? await client.publish([MQTTMessage(topics.status, Array("offline".utf8), quality: quality)])
    }
    client.disconnect()
  }

  /// Says that the person is online, and looks for what the broker has retained.
  private func greet(
    _ client: MQTTClient, after deliveries: Set<String>
  ) async throws -> (isForgetful: Bool, hasLooked: Bool) {
    let online = MQTTMessage(topics.status, Array("online".utf8), quality: quality)
    if configuration.version == .v3 {
      // It knows no limit of what is sent here: another client may have left anything there.
      try await client.publish([online])
      return (true, false)
    }
    let first = MQTTReply<Bool>()
    let witness = Mutex<MQTTWitness?>(nil)
    do {
      try await client.subscribe(topics.delivery) { message in
        if message.isRetained { witness.withLock { $0 = MQTTWitness(message.payload) } }
      }
      // What is retained comes before what is published now, which is not marked as retained.
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

  /// Publishes a message, sees it come back and takes it away.
  ///
  /// - Parameter record: the identifier of the store. Of values of another one nothing may be written over.
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
        // It may only write.
      }
    }
    // Where what is sent here has no limit, in the place of whatever another client may have left there.
    if configuration.version == .v3 { try await client.publish([probe]) }
    do {
      try await client.subscribe(topics.probe) { if $0.payload == text { seen.answer(.success(())) } }
    } catch DeliveryError.unusable {
      isReadable = false
    }
    if configuration.version == .v5 { try await client.publish([probe]) }
    // With 3.1.1 a broker acknowledges also what it throws away.
    if isReadable || configuration.version == .v3 {
      let silent = DeliveryError.unusable(
        reason:
          "\(configuration.host) does not show what is published to \(topics.probe): this user may not write or not "
          + "read below \(topics.base)")
      do {
        try await within(Self.patience, orThrow: silent) { try await seen.value() }
      } catch  where configuration.version == .v5 {
        // Acknowledged as published, so that only reading is not allowed, which is not needed.
        try Task.checkCancellation()
      }
    }
    try await client.publish([MQTTMessage(topics.probe, [], quality: quality)])
    if let other = other.withLock(\.self), other.record != record {
      throw DeliveryError.unusable(reason: ForeignRecord.reason("below \(topics.base)"))
    }
  }
}
