import CMosquitto
import Glibc

/// The event loop of an ``MQTTClient``, on its own thread. No other code calls libmosquitto.
///
/// The library's memory is allocated and freed within ``run()``.
final class MQTTLoop {
  /// The unacknowledged messages of one publish request.
  private final class Publication {
    let reply: MQTTReply<Void>
    var remaining: Int
    /// The first error. The remaining messages are still awaited, so that a message number is not used twice.
    var error: DeliveryError?

    init(_ reply: MQTTReply<Void>, _ count: Int) { (self.reply, remaining) = (reply, count) }
  }

  private struct Outgoing {
    var message: MQTTMessage
    var publication: Publication
  }

  /// The keep-alive interval in seconds: without traffic for longer, the broker considers the connection lost.
  private static let keepAlive: Int32 = 60
  /// The interval in milliseconds at which libmosquitto can send keep-alive messages.
  private static let tick: Int32 = 5_000
  /// The maximum number of messages in flight, unless the broker asks for fewer.
  private static let window = 20
  /// The maximum packet size in bytes that a broker of MQTT 5 may send. Another client may have retained a message of
  /// any size at our topics.
  private static let longestPacket: UInt32 = 64 * 1_024
  /// The number of retries with a broker that ends connections without an explanation.
  private static let repetitions = 3
  private static let library: Int32 = mosquitto_lib_init()

  private let configuration: MQTTConfiguration
  private let inbox: MQTTInbox
  private let connected: MQTTReply<Void>
  private let failure: MQTTFailure
  /// The time for which a broker may acknowledge nothing. Many messages may take longer in total.
  private let patience: Duration

  private var client: OpaquePointer?
  private var window = MQTTLoop.window
  private var waiting: [Outgoing] = []
  private var next = 0
  private var inFlight: [Int32: Outgoing] = [:]
  /// The return codes of messages that were acknowledged before their numbers were known, by number.
  private var early: [Int32: Int32] = [:]
  private var subscribing: [Int32: MQTTReply<Void>] = [:]
  /// The time of the last acknowledgement, or of the first message that is not acknowledged.
  private var heard = SuspendingClock.now
  private var listeners: [(topic: String, onMessage: @Sendable (MQTTMessage) -> Void)] = []
  /// Whether the broker has accepted a connection, even if it closed it again.
  private var wasTaken = false
  private var isConnected = false
  private var isEnding = false
  private var refusal: DeliveryError?
  private var log: [String] = []

  init(
    _ configuration: MQTTConfiguration, _ inbox: MQTTInbox, _ connected: MQTTReply<Void>, patience: Duration
  ) {
    (self.configuration, self.inbox, self.connected, self.patience) = (configuration, inbox, connected, patience)
    failure = MQTTFailure(host: configuration.host, version: configuration.version)
  }

  /// Connects, processes requests and returns when the connection has ended. Blocks.
  func run() {
    _ = Self.library
    var error = live()
    end()
    // The connection may be reset before the TLS alert with the reason can be read. A retry usually gets to read it.
    for _ in 0..<Self.repetitions where mayWantCertificate(error) {
      (wasTaken, log) = (false, [])
      error = live()
      end()
    }
    if mayWantCertificate(error) { error = failure.endedAfterHandshake }
    let end = refusal ?? error
    // Closed before the replies are sent, so that no caller finds the connection still open.
    let untaken = inbox.end(end)
    connected.answer(.failure(end))
    for reply in subscribing.values { reply.answer(.failure(end)) }
    for outgoing in inFlight.values { outgoing.publication.reply.answer(.failure(end)) }
    for outgoing in waiting[next...] { outgoing.publication.reply.answer(.failure(end)) }
    for command in untaken {
      switch command {
      case .publish(_, let reply), .subscribe(_, _, let reply): reply.answer(.failure(end))
      case .disconnect: break
      }
    }
  }

  private func end() {
    if let client { mosquitto_destroy(client) }
    client = nil
  }

  /// Returns whether the broker may require a client certificate: it closed the connection without an explanation
  /// before it answered. In TLS 1.3, brokers check the certificate after the handshake.
  private func mayWantCertificate(_ error: DeliveryError) -> Bool {
    guard case .temporary = error, let tls = configuration.tls, tls.certificate == nil else { return false }
    return wasTaken && !isConnected && !isEnding && refusal == nil && !MQTTFailure.isExplained(log)
  }

  /// Connects and runs the loop.
  ///
  /// - Returns: the reason why the connection ended.
  private func live() -> DeliveryError {
    guard let client = mosquitto_new(configuration.clientID, true, Unmanaged.passUnretained(self).toOpaque()) else {
      return .temporary(reason: "there is no memory for a connection")
    }
    self.client = client
    setCallbacks(client)
    if let error = configure(client) { return error }
    var properties: OpaquePointer?
    defer { mosquitto_property_free_all(&properties) }
    if configuration.version == .v5 {
      mosquitto_property_add_int32(
        &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), Self.longestPacket)
    }
    let code = mosquitto_connect_bind_v5(
      client, configuration.host, Int32(configuration.port), Self.keepAlive, nil, properties)
    guard code == success else {
      let number = errno
      wasTaken = MQTTFailure.isAfterHandshake(code, errno: number)
      return failure.connection(code, errno: number, log: log)
    }
    wasTaken = true
    while true {
      if let error = step(client) { return error }
    }
  }

  private var success: Int32 { Int32(MOSQ_ERR_SUCCESS.rawValue) }

  /// Waits for an event and processes it. Returns the error that ends the connection, or `nil`.
  private func step(_ client: OpaquePointer) -> DeliveryError? {
    let socket = mosquitto_socket(client)
    guard socket >= 0 else { return .temporary(reason: "the connection to \(configuration.host) was lost") }
    let writes = mosquitto_want_write(client) ? POLLOUT : 0
    var descriptors = [
      pollfd(fd: socket, events: Int16(POLLIN | writes), revents: 0),
      pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&descriptors, 2, Self.tick) >= 0 || errno == EINTR else {
      return .temporary(reason: "the connection to \(configuration.host) cannot be watched")
    }
    var code = success
    errno = 0
    if descriptors[0].revents & Int16(POLLIN | POLLERR | POLLHUP) != 0 { code = mosquitto_loop_read(client, 10) }
    if code == success, descriptors[0].revents & Int16(POLLOUT) != 0 { code = mosquitto_loop_write(client, 10) }
    if code == success { code = mosquitto_loop_misc(client) }
    guard code == success else { return failure.connection(code, errno: errno, log: log) }
    if descriptors[1].revents != 0 { for command in inbox.take() { perform(command, client) } }
    if isEnding { return .temporary(reason: "the connection to \(configuration.host) was closed") }
    return send(client) ?? silence
  }

  private var isOwed: Bool { !inFlight.isEmpty || !subscribing.isEmpty }

  private var silence: DeliveryError? {
    guard isOwed, .now - heard > patience else { return nil }
    let seconds = patience.components.seconds
    return .temporary(
      reason: "\(configuration.host) has acknowledged nothing of what was published for \(seconds) s")
  }

  private func perform(_ command: MQTTClient.Command, _ client: OpaquePointer) {
    switch command {
    case .publish(let messages, let reply):
      let publication = Publication(reply, messages.count)
      waiting += messages.map { Outgoing(message: $0, publication: publication) }
    case .subscribe(let topic, let onMessage, let reply):
      var number: Int32 = 0
      let code = mosquitto_subscribe(client, &number, topic, MQTTMessage.Quality.atLeastOnce.rawValue)
      guard code == success else { return reply.answer(.failure(failure.connection(code, errno: errno, log: log))) }
      if !isOwed { heard = .now }
      listeners.append((topic, onMessage))
      subscribing[number] = reply
    case .disconnect:
      mosquitto_disconnect(client)
      isEnding = true
    }
  }

  /// Returns the maximum number of messages in flight, including this one.
  ///
  /// A broker of 3.1.1 cannot announce its limit. If more messages with quality 2 are in flight, mosquitto 2.0.11
  /// acknowledges some without publishing them.
  private func limit(of message: MQTTMessage) -> Int {
    configuration.version == .v3 && message.quality == .exactlyOnce ? 1 : window
  }

  /// Publishes waiting messages, up to the limit in flight.
  private func send(_ client: OpaquePointer) -> DeliveryError? {
    guard isConnected else { return nil }
    while next < waiting.count, inFlight.count < limit(of: waiting[next].message) {
      let outgoing = waiting[next]
      next += 1
      let message = outgoing.message
      var number: Int32 = 0
      let code = message.payload.withUnsafeBytes {
        mosquitto_publish_v5(
          client, &number, message.topic, Int32($0.count), $0.baseAddress, message.quality.rawValue,
          message.isRetained, nil)
      }
      guard code == success else {
        let number = errno
        if let refusal = failure.unpublishable(message.topic, code) {
          settle(outgoing.publication, refusal)
          continue
        }
        // The message was not sent, so it fails together with those that wait.
        next -= 1
        return failure.connection(code, errno: number, log: log)
      }
      if !isOwed { heard = .now }
      inFlight[number] = outgoing
      if let answer = early.removeValue(forKey: number) { acknowledged(number, answer) }
    }
    if next == waiting.count { (waiting, next) = ([], 0) }
    return nil
  }

  // MARK: Callbacks

  private func answered(_ code: Int32, receiveMaximum: Int?) {
    guard code == 0 else {
      refusal = failure.refusal(code)
      return
    }
    window = max(1, min(Self.window, receiveMaximum ?? Self.window))
    isConnected = true
    connected.answer(.success(()))
  }

  private func acknowledged(_ number: Int32, _ code: Int32) {
    guard let outgoing = inFlight.removeValue(forKey: number) else {
      early[number] = code
      return
    }
    heard = .now
    // Code 16 means that there are no subscribers, which is not an error.
    settle(outgoing.publication, code >= 0x80 ? failure.publishing(outgoing.message.topic, code) : nil)
  }

  /// Records the outcome of one message. After the last message, answers the publication.
  private func settle(_ publication: Publication, _ error: DeliveryError?) {
    if publication.error == nil { publication.error = error }
    publication.remaining -= 1
    guard publication.remaining == 0 else { return }
    publication.reply.answer(publication.error.map { .failure($0) } ?? .success(()))
  }

  private func subscribed(_ number: Int32, _ code: Int32) {
    guard let reply = subscribing.removeValue(forKey: number) else { return }
    heard = .now
    reply.answer(
      code < 0x80
        ? .success(()) : .failure(DeliveryError.unusable(reason: "\(configuration.host) lets this user read nothing")))
  }

  private func received(_ message: MQTTMessage) {
    for listener in listeners where listener.topic == message.topic { listener.onMessage(message) }
  }

  /// Keeps a log line, because libmosquitto reports TLS errors only in its log.
  private func logged(_ text: String) {
    if log.count < 20 { log.append(text) }
  }

  // MARK: Setting up

  private func configure(_ client: OpaquePointer) -> DeliveryError? {
    let version = configuration.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
    mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, version)
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
    if configuration.user != nil || configuration.password != nil {
      guard mosquitto_username_pw_set(client, configuration.user ?? "", configuration.password) == success else {
        return .unusable(reason: "user or password cannot be sent")
      }
    }
    if let will = configuration.will {
      let code = will.payload.withUnsafeBytes {
        mosquitto_will_set(
          client, will.topic, Int32($0.count), $0.baseAddress, will.quality.rawValue, will.isRetained)
      }
      guard code == success else { return .unusable(reason: "the topic \(will.topic) is none") }
    }
    guard let tls = configuration.tls else { return nil }
    if tls.authority == nil { mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
    let folder = tls.authority == nil ? "/etc/ssl/certs" : nil
    let code = mosquitto_tls_set(client, tls.authority, folder, tls.certificate, tls.key, nil)
    guard code == success, mosquitto_tls_insecure_set(client, false) == success,
      mosquitto_tls_opts_set(client, 1, "tlsv1.2", nil) == success
    else { return .unusable(reason: "ca, client-certificate or client-key cannot be read") }
    return nil
  }

  private func setCallbacks(_ client: OpaquePointer) {
    mosquitto_connect_v5_callback_set(client) { _, object, code, _, properties in
      var maximum: UInt16 = 0
      let found = mosquitto_property_read_int16(properties, Int32(MQTT_PROP_RECEIVE_MAXIMUM.rawValue), &maximum, false)
      MQTTLoop.of(object)?.answered(code, receiveMaximum: found == nil ? nil : Int(maximum))
    }
    mosquitto_publish_v5_callback_set(client) { _, object, number, code, _ in
      MQTTLoop.of(object)?.acknowledged(number, code)
    }
    mosquitto_subscribe_callback_set(client) { _, object, number, count, codes in
      MQTTLoop.of(object)?.subscribed(number, count > 0 ? codes?[0] ?? 0x80 : 0x80)
    }
    mosquitto_message_callback_set(client) { _, object, message in
      guard let message = message?.pointee, let topic = message.topic else { return }
      let bytes = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
      MQTTLoop.of(object)?.received(MQTTMessage(String(cString: topic), Array(bytes), isRetained: message.retain))
    }
    mosquitto_log_callback_set(client) { _, object, level, text in
      if level & Int32(MOSQ_LOG_ERR) != 0, let text { MQTTLoop.of(object)?.logged(String(cString: text)) }
    }
  }

  /// Returns the loop of a callback; it outlives its client.
  private static func of(_ object: UnsafeMutableRawPointer?) -> MQTTLoop? {
    object.map { Unmanaged<MQTTLoop>.fromOpaque($0).takeUnretainedValue() }
  }
}
