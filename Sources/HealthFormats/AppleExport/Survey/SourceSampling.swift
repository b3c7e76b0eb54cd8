import HealthModel

/// Keeps some of the keys of each source, evenly spread over the file, in constant memory.
struct SourceSampling {
  /// The most keys that are kept of one source.
  static let limit = 256
  /// Names after the first thousands, which only a hostile file has, are not sampled.
  private static let sourceLimit = 4096

  private struct Sampled {
    var name: String
    var keys: [SampleKey] = []
    var seen = 0
    /// Of so many keys one is kept.
    var stride = 1
  }

  private var names: [String: Int] = [:]
  private var sampled: [Sampled] = []

  /// The number of a source by its name; `nil` when there are too many.
  mutating func number(of name: String) -> Int? {
    if let known = names[name] { return known }
    guard sampled.count < Self.sourceLimit else { return nil }
    names[name] = sampled.count
    sampled.append(Sampled(name: name))
    return sampled.count - 1
  }

  /// Counts a key of a source. True when it is one to keep.
  mutating func wantsNext(of number: Int) -> Bool {
    sampled[number].seen += 1
    guard (sampled[number].seen - 1) & (sampled[number].stride - 1) == 0 else { return false }
    if sampled[number].keys.count == Self.limit {
      // Every other one, and from now on half as many.
      sampled[number].keys = stride(from: 0, to: Self.limit, by: 2).map { sampled[number].keys[$0] }
      sampled[number].stride *= 2
    }
    return (sampled[number].seen - 1) & (sampled[number].stride - 1) == 0
  }

  mutating func keep(
    _ kind: ElementKind, _ type: String, start: Timestamp, end: Timestamp, created: Timestamp?, of number: Int
  ) {
    sampled[number].keys.append(
      SampleKey(
        kind: kind.identity, type: SampleType(type), source: sampled[number].name, start: start.seconds,
        end: end.seconds, created: created?.seconds))
  }

  var keys: [String: [SampleKey]] { names.mapValues { sampled[$0].keys } }
}
