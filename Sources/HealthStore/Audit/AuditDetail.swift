/// The joining of the details of two reads that are counted together.
///
/// The joined details never understate what was read. A value that only one read has, or that cannot be joined, is
/// left out. Without `types`, `months`, `earliest` or `to`, the details mean everything that the peer may read.
enum AuditDetail {
  /// The maximum length of a list of type names in bytes. Longer lists are left out.
  private static let longest = 4096

  static func joined(_ one: [String: String], _ other: [String: String]) -> [String: String] {
    var joined: [String: String] = [:]
    for key in Set(one.keys).union(other.keys) { joined[key] = value(of: key, one[key], other[key]) }
    return joined
  }

  private static func value(of key: String, _ one: String?, _ other: String?) -> String? {
    switch key {
    case "count": return number(one, other) { $0 &+ $1 }
    case AuditRead.streamsKey: return number(one ?? "0", other ?? "0") { $0 &+ $1 }
    case "from": return number(one, other, min)
    case "to", "samples": return number(one, other, max)
    case "types": return number(one, other, max) ?? names(one, other)
    case "complete": return one == "false" || other == "false" ? "false" : one ?? other
    case "deep": return one ?? other
    // The newest name that a peer gave itself.
    case "peer": return other ?? one
    default: return one == other ? one : nil
    }
  }

  private static func number(_ one: String?, _ other: String?, _ join: (Int64, Int64) -> Int64) -> String? {
    guard let one = one.flatMap({ Int64($0) }), let other = other.flatMap({ Int64($0) }) else { return nil }
    return String(join(one, other))
  }

  private static func names(_ one: String?, _ other: String?) -> String? {
    guard let one, let other else { return nil }
    let names = Set(one.split(separator: ",")).union(other.split(separator: ",")).sorted().joined(separator: ",")
    return names.utf8.count <= longest ? names : nil
  }
}
