/// A wrong answer for a type, as a future or malicious app may send it.
public enum PhoneFault: Hashable, Sendable {
  /// An error with this HTTP status.
  case status(Int)
  /// A body that isn't JSON.
  case undecodable
  /// JSON nested so deeply that a recursive decoder would crash.
  case deep
  /// JSON with so many members that it takes a hundred times its size in memory.
  case heavy
  /// The newest rows, whatever offset the client asks for, always with more to follow.
  case repeats
  /// The requested rows, always with more to follow, even after the last row.
  case saysMore

  /// The body of the invalid answer, or `nil` for faults that don't replace the body.
  var text: String? {
    switch self {
    case .status, .repeats, .saysMore: nil
    case .undecodable: "<html>"
    case .deep: String(repeating: "[", count: 200_000)
    case .heavy: "{\"data\":[" + String(repeating: "{\"a\":{}},", count: 1_500_000) + "{}]}"
    }
  }
}
