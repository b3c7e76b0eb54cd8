import HealthModel

/// Where the values of a person are published: `hpeer/ada/stepCount`, and `hpeer/ada/status`.
struct MQTTTopics: Sendable {
  /// `hpeer/ada`.
  let base: String

  init(prefix: String, person: String) { base = "\(prefix)/\(person)" }

  /// `online` or `offline`, retained.
  var status: String { "\(base)/status" }
  var probe: String { "\(base)/probe" }
  /// An ``MQTTWitness``, retained.
  var delivery: String { "\(base)/delivery" }

  func values(of type: SampleType) -> String { "\(base)/\(Self.level(type.shortName))" }

  /// A text as one level of a topic: `/`, the wildcards and what no topic may have are `_` (MQTT 5, sections 1.5.4 and 4.7).
  static func level(_ text: String) -> String {
    let level = String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          let isControl = scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
          let isOther = "/+#".unicodeScalars.contains(scalar) || scalar.properties.isNoncharacterCodePoint
          return isControl || isOther ? "_" : scalar
        }))
    return level.isEmpty || ["status", "probe", "delivery"].contains(level) ? "_\(level)" : level
  }

  /// Whether a text may begin topics: levels without wildcards, none empty.
  static func isPrefix(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 256
      && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && level(String($0)) == $0
      }
  }
}
