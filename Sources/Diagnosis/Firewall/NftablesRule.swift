/// A parser for the expressions of one nftables rule.
struct NftablesRule {
  /// The prefix of the names of chains and sets: `family table`.
  let prefix: String
  let sets: [String: [JSON]]

  /// Returns the rules of the expressions: usually one, but one per entry for a verdict map.
  func rules(_ expressions: [JSON]) -> [RuleSet.Rule] {
    var conditions: [Condition] = []
    for expression in expressions {
      if let action = action(expression) { return [RuleSet.Rule(conditions: conditions, action: action)] }
      if let map = expression["vmap"] { return entries(of: map, after: conditions) }
      conditions += self.conditions(expression)
    }
    return [RuleSet.Rule(conditions: conditions, action: .proceed)]
  }

  private func action(_ expression: JSON) -> RuleSet.Action? {
    guard case .object(let members) = expression, let (key, value) = members.first else { return nil }
    switch key {
    case "accept": return .accept
    case "drop", "reject": return .drop
    case "return": return .leave
    case "jump": return .jump("\(prefix) \(value["target"]?.text ?? "")")
    case "goto": return .goto("\(prefix) \(value["target"]?.text ?? "")")
    case "queue", "tproxy": return .unknown
    case "xt": return value["type"]?.text == "target" ? .unknown : nil
    default: return nil
    }
  }

  private func entries(of map: JSON, after conditions: [Condition]) -> [RuleSet.Rule] {
    let data = map["data"]
    let elements = data?["set"]?.array ?? data?.text.flatMap(elements)
    guard let key = map["key"], let elements else { return [RuleSet.Rule(conditions: conditions, action: .unknown)] }
    return elements.map { element in
      guard let pair = element.array, pair.count == 2, let action = action(pair[1]) else {
        return RuleSet.Rule(conditions: conditions, action: .unknown)
      }
      return RuleSet.Rule(conditions: conditions + self.conditions(key, [pair[0]]), action: action)
    }
  }

  /// Returns the conditions of an expression. Empty for expressions that do not decide, such as a counter.
  private func conditions(_ expression: JSON) -> [Condition] {
    guard case .object(let members) = expression, let key = members.keys.first else {
      return [Condition(test: .unknown)]
    }
    switch key {
    case "counter", "log", "mangle", "ct helper", "notrack", "comment": return []
    case "match": break
    default: return [Condition(test: .unknown)]
    }
    guard let match = expression["match"], let left = match["left"], let right = match["right"],
      let operation = match["op"]?.text, ["==", "in", "!="].contains(operation)
    else { return [Condition(test: .unknown)] }
    return conditions(left, values(right), isNegated: operation == "!=")
  }

  /// Returns the conditions of a comparison. A protocol's header field also requires that protocol, negated or not.
  private func conditions(_ left: JSON, _ values: [JSON]?, isNegated: Bool = false) -> [Condition] {
    let condition = Condition(test: test(left, values), isNegated: isNegated)
    switch left["payload"]?["protocol"]?.text {
    case "tcp", "udp", "icmp", "sctp", "dccp", "udplite", "esp", "ah":
      return [Condition(test: .transport([left["payload"]?["protocol"]?.text ?? ""])), condition]
    case "icmpv6", "ip6": return [Condition(test: .family(["ipv6"])), condition]
    case "ip": return [Condition(test: .family(["ipv4"])), condition]
    default: return [condition]
    }
  }

  private func elements(_ reference: String) -> [JSON]? {
    reference.hasPrefix("@") ? sets["\(prefix) \(reference.dropFirst())"] : nil
  }

  /// Returns the values on the right side of a comparison; nil if they are unknown.
  private func values(_ right: JSON) -> [JSON]? {
    if let reference = right.text, reference.hasPrefix("@") { return elements(reference) }
    return right["set"]?.array ?? right.array ?? [right]
  }

  private func test(_ left: JSON, _ values: [JSON]?) -> Condition.Test {
    guard let values = values?.map({ $0["elem"]?["val"] ?? $0 }) else { return .unknown }
    let texts = values.compactMap { $0.text ?? $0.number.map { String(Int($0)) } }
    let areTexts = texts.count == values.count
    if let key = left["meta"]?["key"]?.text {
      guard areTexts else { return .unknown }
      switch key {
      case "iif", "iifname": return .interfaces(texts)
      case "l4proto": return .transport(Set(texts))
      case "nfproto", "protocol": return .family(Set(texts.map { $0 == "ip" ? "ipv4" : $0 }))
      case "pkttype": return .kinds(Set(texts))
      default: return .unknown
      }
    }
    if left["ct"]?["key"]?.text == "state", areTexts { return .states(Set(texts)) }
    if let lookup = left["fib"], lookup["result"]?.text == "type", lookup["flags"] == .text("daddr"), areTexts {
      return .kinds(Set(texts))
    }
    guard let payload = left["payload"], let transport = payload["protocol"]?.text, let field = payload["field"]?.text
    else { return .unknown }
    switch (transport, field) {
    case ("ip", "protocol"): return areTexts ? .transport(Set(texts)) : .unknown
    case ("ip", "saddr"): return networks(values).map { .source($0) } ?? .unknown
    case ("ip", "daddr"): return networks(values).map { .destination($0) } ?? .unknown
    case ("tcp", "dport"), ("udp", "dport"), ("th", "dport"): return ports(values).map { .ports($0) } ?? .unknown
    default: return .unknown
    }
  }

  private func ports(_ values: [JSON]) -> [ClosedRange<UInt16>]? {
    let ranges = values.map { value -> ClosedRange<UInt16>? in
      let ends = (value["range"]?.array ?? [value, value]).compactMap { $0.number.flatMap { UInt16(exactly: $0) } }
      return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : nil
    }
    return ranges.contains(nil) ? nil : ranges.compactMap(\.self)
  }

  private func networks(_ values: [JSON]) -> [Condition.Network]? {
    let networks = values.map { value -> Condition.Network? in
      if let text = value.text { return Condition.Network(text) }
      guard let prefix = value["prefix"], let address = prefix["addr"]?.text, let length = prefix["len"]?.number else {
        return nil
      }
      return Condition.Network("\(address)/\(Int(length))")
    }
    return networks.contains(nil) ? nil : networks.compactMap(\.self)
  }
}
