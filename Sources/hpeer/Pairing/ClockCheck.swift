import Foundation
import PeerProtocol
import Terminal

/// Codes and tokens have dates: clocks that disagree explain what looks like an expired one.
enum ClockCheck {
  private static let tolerance = 120.0

  static func warn(about status: StatusData) {
    guard let theirs = status.time else { return }
    let difference = Date().timeIntervalSince1970 - theirs.rawValue
    guard abs(difference) > tolerance else { return }
    let amount = HumanFormat.duration(.seconds(abs(difference).rounded()))
    Console.warn(
      "this machine's clock is \(amount) \(difference > 0 ? "ahead of" : "behind") the other's: codes and tokens may look expired."
    )
  }
}
