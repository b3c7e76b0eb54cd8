import Foundation

/// A parser for the output of `nft -j list ruleset`; see libnftables-json(5).
enum NftablesRules {
  /// The nftables families that IPv4 packets pass.
  private static let families: Set<String> = ["ip", "inet"]

  /// Parses the output; nil if it has another format. Chains are named `family table chain`.
  static func parse(_ json: String) -> RuleSet? {
    guard let root = try? JSONDecoder().decode(JSON.self, from: Data(json.utf8)),
      let objects = root["nftables"]?.array
    else { return nil }
    var rules = RuleSet()
    var bases: [(priority: Double, chain: RuleSet.BaseChain)] = []
    var sets: [String: [JSON]] = [:]
    for set in objects.compactMap({ $0["set"] ?? $0["map"] }) {
      sets[name(set, set["name"])] = set["elem"]?.array ?? []
    }
    for object in objects {
      if let chain = object["chain"], isRelevant(chain), chain["hook"]?.text == "input", chain["type"]?.text == "filter"
      {
        let name = name(chain, chain["name"])
        bases.append(
          (
            chain["prio"]?.number ?? 0,
            RuleSet.BaseChain(name: name, acceptsByDefault: chain["policy"]?.text != "drop")
          ))
      } else if let rule = object["rule"], isRelevant(rule) {
        let reader = NftablesRule(prefix: prefix(rule), sets: sets)
        rules.chains[name(rule, rule["chain"]), default: []] += reader.rules(rule["expr"]?.array ?? [])
      }
    }
    rules.bases = bases.sorted { $0.priority < $1.priority }.map(\.chain)
    return rules
  }

  private static func isRelevant(_ object: JSON) -> Bool { families.contains(object["family"]?.text ?? "") }

  private static func prefix(_ object: JSON) -> String {
    "\(object["family"]?.text ?? "") \(object["table"]?.text ?? "")"
  }

  private static func name(_ object: JSON, _ name: JSON?) -> String { "\(prefix(object)) \(name?.text ?? "")" }
}

/// A JSON value.
enum JSON: Hashable, Sendable, Decodable {
  case object([String: JSON]), array([JSON]), text(String), number(Double), bool(Bool), null

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  subscript(key: String) -> JSON? { if case .object(let members) = self { members[key] } else { nil } }
  var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
}
