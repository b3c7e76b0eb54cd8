import Foundation
import HealthModel
import OperatingSystem
import PeerClient
import PeerTrust

/// A certificate or token that ends, as a person reads it, with what to do.
enum EndingText {
  /// Says it while something runs for long.
  @Sendable static func warn(_ ending: Ending, isOver: Bool) {
    Console.warn(of(ending, isOver: isOver), EntryFields(.validityEnding, peer: ending.name))
  }

  /// May quote anything.
  static func of(_ ending: Ending, isOver: Bool) -> String {
    let name = ending.name ?? ""
    let day = Timestamp(ending.ends).shortText(in: .current).prefix(10)
    switch ending.subject {
    case .identity:
      return
        "This machine's certificate \(isOver ? "was" : "is") valid until \(day): hpeer goes by its fingerprint and goes "
        + "on, but other apps may not; `hpeer identity rotate` makes a new one, and machines that read here pair again then."
    case .client(let id):
      if isOver {
        return
          "\(name) may not read here any more, since \(day): pair again (`hpeer pair --wait` here, `hpeer pair` there), "
          + "or forget it with `hpeer revoke \(id.short)`."
      }
      return "\(name) may read here until \(day) only: run `hpeer pull` on it before then."
    case .server(_, let dialect):
      let isRenewed = PeerDialects.dialect(named: dialect)?.traits.renewsToken ?? true
      let command = isRenewed && !isOver ? "pull" : "pair"
      return
        "The pairing with \(name) \(isOver ? "ended" : "ends") on \(day): run `hpeer \(command) \(ShellWord.quoted(name))`."
    }
  }
}

/// For `--json`.
struct EndingObject: Encodable {
  /// `identity`, `client` or `server`.
  var kind: String
  var name: String?
  /// Of the other machine.
  var id: String?
  var ends: Timestamp
  var isOver: Bool

  init(_ ending: Ending, now: Date = Date()) {
    (name, ends, isOver) = (ending.name, Timestamp(ending.ends), ending.isOver(at: now))
    switch ending.subject {
    case .identity: kind = "identity"
    case .client(let id): (kind, self.id) = ("client", id.hex)
    case .server(let id, _): (kind, self.id) = ("server", id.hex)
    }
  }
}
