import OperatingSystem
import Foundation
import HealthAnalysis
import HealthModel

/// A destination that keeps the current values of a record on an MQTT broker: a retained message for each type, and
/// optionally the discovery messages with which Home Assistant displays them.
struct MQTTDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("mqtt"), "Publishes the current value of each type to an MQTT broker, retained.",
    repetition: .idempotent, showsNumbers: true,
    fields: [
      SettingField(
        "url", .url(schemes: ["mqtts", "mqtt"]), "The broker: mqtts://HOST[:PORT], or mqtt:// without TLS.",
        required: true),
      SettingField(
        "person", .text, "Whose values these are, in topics: hpeer/PERSON/TYPE.", asked: true, default: "me"),
      SettingField("prefix", .text, "What all topics begin with.", default: "hpeer"),
      SettingField("version", .choice(["5", "3.1.1"]), "The version of MQTT.", default: "5"),
      SettingField(
        "qos", .integer(0...2), "How often a message may arrive: 0 at most once, 1 at least once, 2 once.", default: "1"
      ),
      SettingField(
        "client-id", .text, "What the broker knows this connection by; made of prefix and person where it is not set."),
      SettingField("user", .text, "The user to log in as."),
      SettingField("password", .secret, "The password of that user."),
      SettingField("client-certificate", .path, "The certificate to log in with, a PEM file."),
      SettingField("client-key", .path, "Its private key, a PEM file without a password."),
      SettingField("discovery", .boolean, "Have Home Assistant show the values as sensors.", default: "false"),
      SettingField("discovery-prefix", .text, "The prefix that Home Assistant was told.", default: "homeassistant"),
      SettingField(
        "offline-at-end", .boolean, "Say offline also when hpeer ends in order, not only when the connection is lost.",
        default: "false"),
    ] + HTTPService.fields)

  /// The capabilities. A type has only one message however many samples change, so batches may be large.
  let capabilities = DestinationCapabilities(
    maximumChanges: 20_000, deadline: .seconds(300), days: .current, examinationInterval: .seconds(15), purges: true)

  private let record: RecordReader
  private let topics: MQTTTopics
  private let quality: MQTTMessage.Quality
  private let discovery: HomeAssistantDiscovery?
  private let session: MQTTSession
  private let stateFolder: String

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    try MQTTConfiguration.validate(settings)
    guard MQTTTopics.isPrefix(try settings.text("prefix")) else {
      throw SettingsError("prefix", .invalid("must be levels of a topic without + and #, such as hpeer or home/health"))
    }
    _ = try HomeAssistantPerson.read(settings)
    let root = try settings.text("discovery-prefix")
    guard !settings.boolean("discovery") || MQTTTopics.isPrefix(root) else {
      throw SettingsError("discovery-prefix", .invalid("must be levels of a topic without + and #"))
    }
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    let configuration = try MQTTConfiguration(settings, environment.secrets)
    let person = try HomeAssistantPerson.read(settings)
    topics = MQTTTopics(prefix: try settings.text("prefix"), person: person)
    quality = MQTTMessage.Quality(rawValue: Int32(try settings.integer("qos"))) ?? .atLeastOnce
    record = environment.record
    stateFolder = environment.stateFolder
    session = MQTTSession(
      configuration, topics, quality, saysOfflineAtEnd: settings.boolean("offline-at-end"))
    guard settings.boolean("discovery") else {
      discovery = nil
      return
    }
    discovery = HomeAssistantDiscovery(
      prefix: try settings.text("discovery-prefix"), person: person, availabilityTopic: topics.status)
  }

  private var recordID: String { record.store.id.uuidString.lowercased() }

  func check() async throws { try await session.probe(for: recordID) }

  func close() async { await session.close() }

  /// Reconnects if the connection was lost, and checks the retained delivery. Values are stale after the end of the
  /// day, because totals are those of today.
  func examine() async throws -> PlaceState {
    guard let memory = await CurrentMemory.read(in: stateFolder) else { return .intact }
    let connection = try await session.open(after: memory.deliveries)
    guard connection.isForgetful else { return memory.day == record.today ? .intact : .stale }
    return connection.hasLooked ? .incomplete(loss: "the values that it had retained") : .stale
  }

  func mend() async throws {
    guard var memory = await CurrentMemory.read(in: stateFolder) else { return }
    let connection = try await session.open(after: memory.deliveries)
    memory.day = record.today
    _ = try await publish(Set(try await record.types()), DeliveryKey(description: memory.delivery), over: connection)
    try await memory.write(in: stateFolder)
  }

  func purge() async throws {
    let connection = try await session.open(after: [])
    var topics = [topics.delivery, topics.status]
    for type in Set(try await record.types()).union(SampleTypeCatalogue.healthKit.entries.map(\.type)) {
      topics.append(self.topics.values(of: type))
      if let discovery { topics.append(discovery.topic(of: record.entity(of: type))) }
    }
    try await connection.client.publish(topics.map { MQTTMessage($0, [], quality: quality) })
    await session.close(isSilent: true)
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    var memory = await CurrentMemory.read(in: stateFolder)
    let connection = try await session.open(after: memory?.deliveries ?? [])
    let today = record.today
    var types = ChangedTimes(batch).types.filter(record.filter.passes)
    // On a new day, the totals of all types have changed.
    let isAll = batch.startsOver || connection.isForgetful || memory.map { $0.day != today } ?? false
    if isAll { types.formUnion(try await record.types()) }
    if batch.startsOver { types.formUnion(SampleTypeCatalogue.healthKit.entries.map(\.type)) }
    if memory != nil {
      memory?.attempted = key.description
      try await memory?.write(in: stateFolder)
    }
    let refused = try await publish(types, key, over: connection)
    try await CurrentMemory(delivery: key.description, day: today).write(in: stateFolder)
    return Delivery(refused: refused.flatMap { type, reason in batch.parts(of: type).these.refused(reason) })
  }

  /// Publishes the current values of some types.
  ///
  /// - Returns: the types that the broker refuses, with the reasons.
  private func publish(
    _ types: Set<SampleType>, _ key: DeliveryKey, over connection: MQTTSession.Connection
  ) async throws -> [SampleType: String] {
    let ordered = types.sorted { $0.rawValue < $1.rawValue }
    var messages: [SampleType: [MQTTMessage]] = [:]
    for type in ordered { messages[type] = try await self.messages(of: type, key, announced: connection.announced) }
    var refused: [SampleType: String] = [:]
    do {
      try await connection.client.publish(ordered.flatMap { messages[$0] ?? [] })
    } catch DeliveryError.refused {
      // Publishes type by type, so that a refused type doesn't prevent the others.
      for type in ordered {
        do {
          try await connection.client.publish(messages[type] ?? [])
        } catch DeliveryError.refused(let reason) {
          refused[type] = reason
        }
      }
    }
    // The marker comes last: a broker that has it has everything before it.
    try await connection.client.publish([
      try MQTTWitness(key.description, of: recordID).message(at: topics.delivery, quality)
    ])
    await session.published(types.subtracting(refused.keys), over: connection)
    return refused
  }

  /// Returns the messages for the current value of a type; the message is empty if no value is left.
  private func messages(
    of type: SampleType, _ key: DeliveryKey, announced: Set<SampleType>
  ) async throws -> [MQTTMessage] {
    let entity = record.entity(of: type)
    let topic = topics.values(of: type)
    let value = try await record.currentValue(of: type)
    let payload = try value.map { try MQTTPayload.bytes($0, as: entity, anchor: key) } ?? []
    let message = MQTTMessage(topic, payload, quality: quality)
    guard let discovery, !announced.contains(type) || value == nil else { return [message] }
    let configuration = try value == nil ? [] : discovery.configuration(of: entity, valuesAt: topic)
    // The configuration precedes the value, so that the sensor shows it from the start.
    return [MQTTMessage(discovery.topic(of: entity), configuration, quality: quality), message]
  }
}

extension MQTTConfiguration {
  /// Checks the settings of the connection.
  fileprivate static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    let url = try settings.url("url")
    guard url.path.isEmpty || url.path == "/", url.query == nil else {
      throw SettingsError("url", .invalid("must be mqtts://HOST[:PORT] and no more"))
    }
    try HTTPService.requireAcceptedRisk(settings, url: url)
    guard !isEncrypted(url) || settings.has("client-certificate") == settings.has("client-key") else {
      throw SettingsError("client-key", .invalid("and client-certificate belong together"))
    }
  }

  private static func isEncrypted(_ url: URL) -> Bool { url.scheme?.lowercased() == "mqtts" }

  /// Creates a configuration.
  ///
  /// - Parameter settings: settings that have passed ``validate(_:)``.
  fileprivate init(_ settings: DestinationSettings, _ secrets: SecretStore) throws(SettingsError) {
    let url = try settings.url("url")
    let isEncrypted = Self.isEncrypted(url)
    guard var host = url.host(percentEncoded: false) else { throw SettingsError("url", .invalid("names no broker")) }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    var tls: TLS?
    if isEncrypted {
      func path(_ key: String) throws(SettingsError) -> String? {
        guard let path = settings.optionalText(key).map(UserPath.absolute) else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
          throw SettingsError(key, .invalid("is no readable file: \(path)"))
        }
        return path
      }
      tls = TLS(authority: try path("ca"), certificate: try path("client-certificate"), key: try path("client-key"))
    }
    let base = "\(try settings.text("prefix"))/\(try settings.text("person"))"
    self.init(
      host: host, port: url.port ?? (isEncrypted ? 8883 : 1883),
      version: Version(rawValue: try settings.text("version")) ?? .v5,
      clientID: settings.optionalText("client-id") ?? base.replacing("/", with: "-"),
      user: settings.optionalText("user"), password: try secrets.read("password", of: settings), tls: tls)
  }
}
