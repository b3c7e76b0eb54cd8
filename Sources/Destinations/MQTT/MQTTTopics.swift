import HealthModel

/// The topics of a person's values: `hpeer/ada/stepCount`, and `hpeer/ada/status`.
struct MQTTTopics: Sendable {
  /// The common beginning: `hpeer/ada`.
  let base: String

  init(prefix: String, person: String) { base = "\(prefix)/\(person)" }

  /// The topic of the retained message `online` or `offline`.
  var status: String { "\(base)/status" }
  var probe: String { "\(base)/probe" }
  /// The topic of the retained ``MQTTWitness``.
  var delivery: String { "\(base)/delivery" }

  func values(of type: SampleType) -> String { "\(base)/\(Self.level(type.shortName))" }

  /// Returns a text as a topic level, with `_` for `/`, wildcards and invalid characters (MQTT 5, sections 1.5.4,
  /// 4.7).
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

  /// Returns whether a text is a valid topic prefix: nonempty levels without wildcards.
  static func isPrefix(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 256
      && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && level(String($0)) == $0
      }
  }
}
