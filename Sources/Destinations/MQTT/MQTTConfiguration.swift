/// Where a broker is, and as whom it is spoken to.
struct MQTTConfiguration: Sendable {
  enum Version: String, Sendable {
    case v3 = "3.1.1"
    case v5 = "5"
  }

  struct TLS: Sendable {
    /// PEM files; without an authority the system's are trusted.
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
  /// `nil` for a connection in the clear.
  var tls: TLS?
  /// What the broker publishes when the connection is lost.
  var will: MQTTMessage?
}

/// What is published.
struct MQTTMessage: Hashable, Sendable {
  enum Quality: Int32, Sendable {
    case atMostOnce = 0
    case atLeastOnce = 1
    case exactlyOnce = 2
  }

  var topic: String
  /// Empty and retained: what the topic has is taken away.
  var payload: [UInt8]
  var quality = Quality.atLeastOnce
  var isRetained = true

  init(_ topic: String, _ payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = true) {
    (self.topic, self.payload, self.quality, self.isRetained) = (topic, payload, quality, isRetained)
  }
}
