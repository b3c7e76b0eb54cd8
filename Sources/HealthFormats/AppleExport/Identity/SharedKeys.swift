/// Finds the keys that several samples have, where the survey has not seen them all: those of one workout, and those in
/// files beside the XML.
struct SharedKeys<Key: Hashable> {
  private var counts: [Key: Int] = [:]

  var isEmpty: Bool { counts.isEmpty }

  mutating func add(_ key: Key) { counts[key, default: 0] += 1 }

  func isShared(_ key: Key) -> Bool { counts[key] ?? 0 > 1 }
}
