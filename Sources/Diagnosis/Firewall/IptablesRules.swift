/// A parser for the output of `iptables -S`: the rules of the table `filter`, each a line of options of iptables(8).
enum IptablesRules {
  static func parse(_ text: String) -> RuleSet {
    var rules = RuleSet()
    for line in text.split(separator: "\n") {
      let words = words(line)
      guard words.count >= 2 else { continue }
      switch words[0] {
      case "-P" where words[1] == "INPUT" && words.count >= 3:
        rules.bases = [RuleSet.BaseChain(name: "INPUT", acceptsByDefault: words[2] == "ACCEPT")]
      case "-A": rules.chains[words[1], default: []].append(rule(Array(words.dropFirst(2))))
      default: continue
      }
    }
    return rules
  }

  /// Splits a line at spaces outside of double quotes.
  private static func words(_ line: Substring) -> [String] {
    var words: [String] = []
    var word = ""
    var isQuoted = false
    for character in line {
      if character == "\"" {
        isQuoted.toggle()
      } else if character == " ", !isQuoted {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }

  private static func rule(_ words: [String]) -> RuleSet.Rule {
    var rule = RuleSet.Rule(conditions: [], action: .proceed)
    var rest = words[...]
    var isNegated = false
    while let option = rest.popFirst() {
      if option == "!" {
        isNegated = true
        continue
      }
      switch option {
      case "-j", "--jump": rule.action = action(rest.popFirst() ?? "")
      case "-g", "--goto": rule.action = .goto(rest.popFirst() ?? "")
      // The module's options follow and become conditions; unknown options become unknown conditions.
      case "-m", "--match": if rest.popFirst() == "limit" { rule.conditions.append(Condition(test: .unknown)) }
      case "--comment", "--limit", "--limit-burst": rest = rest.dropFirst()
      default:
        // The options of the target come after it.
        if rule.action != .proceed { return rule }
        let values = rest.prefix { !$0.hasPrefix("-") && $0 != "!" }
        rest = rest.dropFirst(values.count)
        rule.conditions.append(Condition(test: test(option, values.first ?? ""), isNegated: isNegated))
      }
      isNegated = false
    }
    return rule
  }

  private static func action(_ target: String) -> RuleSet.Action {
    switch target {
    case "ACCEPT": .accept
    case "DROP", "REJECT", "TARPIT": .drop
    case "RETURN": .leave
    case "LOG", "NFLOG", "ULOG", "MARK", "CONNMARK", "TRACE", "AUDIT", "CT", "SET", "CLASSIFY": .proceed
    case "QUEUE", "NFQUEUE": .unknown
    default: .jump(target)
    }
  }

  private static func test(_ option: String, _ value: String) -> Condition.Test {
    switch option {
    case "-p", "--protocol": .transport([value])
    case "-i", "--in-interface": .interfaces([value])
    case "-s", "--source": Condition.Network(value).map { .source([$0]) } ?? .unknown
    case "-d", "--destination": Condition.Network(value).map { .destination([$0]) } ?? .unknown
    case "--dport", "--dports": ports(value).map { .ports($0) } ?? .unknown
    case "--ctstate", "--state": .states(Set(value.lowercased().split(separator: ",").map(String.init)))
    case "--dst-type", "--pkt-type": .kinds(Set(value.lowercased().split(separator: ",").map(String.init)))
    default: .unknown
    }
  }

  /// Parses `22,8000:9000`.
  private static func ports(_ text: String) -> [ClosedRange<UInt16>]? {
    let ranges = text.split(separator: ",").map { part -> ClosedRange<UInt16>? in
      let ends = part.split(separator: ":", omittingEmptySubsequences: false).map { UInt16($0) }
      guard let low = ends.first ?? nil, let high = ends.last ?? nil, ends.count <= 2, low <= high else { return nil }
      return low...high
    }
    return ranges.contains(nil) ? nil : ranges.compactMap(\.self)
  }
}
