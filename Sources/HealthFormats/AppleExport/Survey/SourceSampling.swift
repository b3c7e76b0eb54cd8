/// Keeps some of the keys of each source, evenly spread over the file, in constant memory.
struct SourceSampling {
  /// The most keys that are kept of one source.
  static let limit = 256
  /// Names after the first thousands, which only a hostile file has, are not sampled.
  private static let sourceLimit = 4096

  private struct Sampled {
    var keys: [ExportSurvey.SampledKey] = []
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
    sampled.append(Sampled())
    return sampled.count - 1
  }

  /// Counts a key of a source, and asks for it when it is one to keep.
  mutating func note(_ number: Int, key: () -> ExportSurvey.SampledKey) {
    let seen = sampled[number].seen
    sampled[number].seen = seen + 1
    guard seen & (sampled[number].stride - 1) == 0 else { return }
    if sampled[number].keys.count == Self.limit {
      // Every other one, and from now on half as many.
      sampled[number].keys = stride(from: 0, to: Self.limit, by: 2).map { sampled[number].keys[$0] }
      sampled[number].stride *= 2
      guard seen & (sampled[number].stride - 1) == 0 else { return }
    }
    sampled[number].keys.append(key())
  }

  var keys: [String: [ExportSurvey.SampledKey]] { names.mapValues { sampled[$0].keys } }
}
