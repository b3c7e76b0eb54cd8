import HealthModel

/// Where the values of a person are published: `hpeer/ada/stepCount`, and `hpeer/ada/status`.
struct MQTTTopics: Sendable {
  /// `hpeer/ada`.
  let base: String

  init(prefix: String, person: String) { base = "\(prefix)/\(person)" }

  /// `online` or `offline`, retained.
  var status: String { "\(base)/status" }
  var probe: String { "\(base)/probe" }

  func values(of type: SampleType) -> String { "\(base)/\(Self.level(type.shortName))" }

  /// A text as one level of a topic: `/`, the wildcards and what no topic may have are `_` (MQTT 5, section 4.7).
  static func level(_ text: String) -> String {
    let level = String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { "/+#".unicodeScalars.contains($0) || $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 })
    )
    return level.isEmpty || ["status", "probe"].contains(level) ? "_\(level)" : level
  }

  /// Whether a text may begin topics: levels without wildcards, none empty.
  static func isPrefix(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 256
      && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && level(String($0)) == $0
      }
  }
}
