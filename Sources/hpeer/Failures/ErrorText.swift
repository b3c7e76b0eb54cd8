import PeerClient
import Terminal

/// What an error says, fit for a terminal: it may quote what a peer, a file or the network said.
enum ErrorText {
  /// Longer than any sentence of ours, and no screenful.
  private static let limit = 1000

  static func of(_ error: any Error) -> String {
    // The one message with lines of its own: only what is quoted in it is foreign.
    if case PeerError.certificateChanged(let peer, let pinned, let seen) = error {
      return "\(PeerError.certificateChanged(peer: PlainText.escaped(peer), pinned: pinned, seen: seen))"
    }
    return sentence(error)
  }

  /// On one line, for a text that quotes it.
  static func sentence(_ error: any Error) -> String {
    if case PeerError.certificateChanged(let peer, _, _) = error {
      return "\(PlainText.escaped(peer)) shows another certificate than the one you paired with, so nothing was sent."
    }
    if error is CancellationError { return "Interrupted." }
    return PlainText.escaped((error as? any WordedError)?.sentence ?? "\(error)", limit: limit)
  }
}
