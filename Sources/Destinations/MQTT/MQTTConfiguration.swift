/// The address of a broker, and the credentials.
struct MQTTConfiguration: Sendable {
  enum Version: String, Sendable {
    case v3 = "3.1.1"
    case v5 = "5"
  }

  struct TLS: Sendable {
    /// The path of a PEM file; `nil` if the system's authorities are trusted.
    var authority: String?
    var certificate: String?
    var key: String?
  }

  var host: String
  var port: Int
  var version = Version.v5
  var clientID: String
  var user: String?
  var password: String?
  /// The TLS settings; `nil` for an unencrypted connection.
  var tls: TLS?
  /// The message that the broker publishes when the connection is lost.
  var will: MQTTMessage?
}

/// A message to publish, or one that was received.
struct MQTTMessage: Hashable, Sendable {
  enum Quality: Int32, Sendable {
    case atMostOnce = 0
    case atLeastOnce = 1
    case exactlyOnce = 2
  }

  var topic: String
  /// The content. An empty retained message deletes the topic's retained message.
  var payload: [UInt8]
  var quality = Quality.atLeastOnce
  var isRetained = true

  init(_ topic: String, _ payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = true) {
    (self.topic, self.payload, self.quality, self.isRetained) = (topic, payload, quality, isRetained)
  }
}
