import Foundation
import HealthModel
import PeerClient
import PeerProtocol
import PeerTrust

/// The findings from a paired machine's statement about its end of the pairing. Its texts may be hostile.
struct OtherEnd {
  /// The machine's record on this machine.
  var server: ServerRecord
  /// Returns the description of a scope. The second argument says whether it is limited to daily values.
  var words: @Sendable (SampleFilter, _ onlyDaily: Bool) -> String

  private var name: String { server.name }

  /// Returns the findings.
  /// - Parameter answer: the statement; `nil` if the machine was not asked or did not answer.
  func findings(_ answer: PeerDiagnosis.OtherEnd?) -> [Finding] {
    switch answer {
    case .said(let view): [seen(view), scope(view), ends(view), room(view), way(view)].compactMap(\.self)
    case .older:
      [
        Finding(
          .note, "peer.otherEnd.older", "\(name) is an older hpeer that cannot say what it sees of this machine",
          remedy: "update hpeer on \(name); until then, `hpeer peers` there says what this machine may read")
      ]
    case .unclear(let reason):
      [Finding(.warning, "peer.otherEnd.unclear", "What \(name) sees of this machine cannot be told: \(reason)")]
    case nil:
      [
        Finding(
          .note, "peer.otherEnd", "The rest can only be seen on \(name) itself",
          remedy: "on \(name): `hpeer doctor`, and `hpeer peers`, which says what this machine may read there")
      ]
    }
  }

  private func seen(_ view: PairingView) -> Finding {
    let last = view.lastSeen.map { "was last asked by it at \(ClockCheck.text(Self.date($0)))" }
    return Finding(
      .ok, "peer.otherEnd.seen",
      "\(name) sees this machine at \(view.address), and \(last ?? "was not asked by it before")")
  }

  private func scope(_ view: PairingView) -> Finding {
    let isAll = view.scope == .everything && !view.onlyDaily
    return Finding(
      isAll ? .ok : .note, "peer.otherEnd.scope", "\(name) lets this machine read \(words(view.scope, view.onlyDaily))",
      remedy: isAll ? nil : "if it should be more, on \(name): hpeer peers set NAME, with this machine's name")
  }

  private func ends(_ view: PairingView) -> Finding {
    Finding(
      .ok, "peer.otherEnd.ends",
      "\(name) lets this machine read until \(ClockCheck.day(Self.date(view.expires))), and longer with every pull")
  }

  private func room(_ view: PairingView) -> Finding? {
    guard view.lowSpace else { return nil }
    return Finding(
      .warning, "peer.otherEnd.room", "\(name) has so little room on its disk that it takes in nothing large",
      remedy: "on \(name): make room; `hpeer doctor` there says where")
  }

  private func way(_ view: PairingView) -> Finding {
    guard let following = view.following else {
      return Finding(.ok, "peer.otherEnd.apart", "\(name) does not pull from this machine")
    }
    let place = following.endpoint.map { " at \($0)" } ?? ""
    let reason: String
    switch following.outcome {
    case .reached:
      return Finding(.ok, "peer.otherEnd.reaches", "\(name) pulls from this machine, too, and reaches it\(place)")
    case .untried:
      return Finding(
        .note, "peer.otherEnd.untried", "\(name) pulls from this machine, too; whether it reaches it was not tried")
    case .unreachable: reason = "nothing answers there"
    case .notTLS: reason = "something else listens there"
    case .otherCertificate: reason = "another machine answers there"
    }
    return Finding(
      .warning, "peer.otherEnd.unreached",
      "\(name) pulls from this machine, too, and does not reach it where it last was\(place): \(reason)",
      remedy:
        "start `hpeer serve` here, if it should be read from; if it runs, `sudo hpeer doctor` here has the command "
        + "for the firewall; if this machine has moved, \(name) finds it where it is announced")
  }

  private static func date(_ instant: WireInstant) -> Date { Date(timeIntervalSince1970: instant.rawValue) }
}
