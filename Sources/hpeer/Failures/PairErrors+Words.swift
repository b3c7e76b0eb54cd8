import HealthOperations
import Terminal

extension PairError: WordedError {
  var status: ExitStatus { .certificateChanged }

  var sentence: String {
    switch self {
    case .anotherMachine(let peer):
      "What answers at \(PlainText.escaped(peer)) is not the machine that the code is of: it shows another certificate, so "
        + "nothing was sent. Ask for a new code; should that say the same, someone on the network may be posing as it."
    }
  }
}

extension PairingWindowError: WordedError {
  var status: ExitStatus {
    switch self {
    case .locked, .closed: .windowClosed
    case .failed: .other
    case .serverStopped: .unreachable
    }
  }

  var sentence: String {
    switch self {
    case .locked: "Five wrong codes: the window is locked. Run this again to open a new one."
    case .closed(let reason): "The window closed (\(reason)) before anyone paired."
    case .failed(let message): PlainText.escaped(message, limit: 300)
    case .serverStopped: "The server stopped before anyone paired."
    }
  }
}
