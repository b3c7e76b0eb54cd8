/// What an app answers for a type instead of what it should: for what a phone may do one day, or one that means harm.
public enum PhoneFault: Hashable, Sendable {
  /// An error of this status.
  case status(Int)
  /// Something else than JSON.
  case undecodable
  /// JSON that is nested so deep that a decoder which recurses would not survive it.
  case deep
  /// JSON of so many members that it would take a hundred times its size in memory.
  case heavy
  /// The newest rows, whatever is asked for, and that more follow.
  case repeats
  /// What is asked for, and that more follow, also after the last.
  case saysMore

  /// The text of an answer that is none, where the fault is such a one.
  var text: String? {
    switch self {
    case .status, .repeats, .saysMore: nil
    case .undecodable: "<html>"
    case .deep: String(repeating: "[", count: 200_000)
    case .heavy: "{\"data\":[" + String(repeating: "{\"a\":{}},", count: 1_500_000) + "{}]}"
    }
  }
}
