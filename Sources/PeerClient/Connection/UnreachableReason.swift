/// The reasons of ``PeerError/unreachable(endpoint:reason:)`` that need advice about this machine rather than the
/// other.
enum UnreachableReason {
  static let noAddress = "no address is known for this name"
  static let noNetwork = "this machine has no network that leads there"

  /// Returns advice for any reason, as the end of a sentence.
  static func advice(_ reason: String) -> String {
    switch reason {
    case noAddress: "check how the name is written, or give the machine's address instead"
    case noNetwork: "connect this machine to the network that the other one is in"
    default: "check that `hpeer serve` runs there and that its firewall lets the port through"
    }
  }
}
