import Foundation
import HealthModel
import HealthStore
import PeerDiscovery
import PeerProtocol
import PeerTrust

/// What happens while a store is served.
public enum ServeEvent: Sendable {
  /// Connections are accepted.
  ///
  /// - Parameters:
  ///   - addresses: where others reach this machine, whatever their interfaces are called.
  ///   - counts: what there is to share.
  case listening(port: Int, addresses: [String], counts: [TypeCount])
  /// `/metrics` is answered on this port of loopback.
  case metrics(port: Int)
  /// What the pairing desk did. The audit log has it already.
  case pairing(PairingEvent)
  /// A window is open, and this is its code.
  case code(WindowCode)
  /// A window is open, and its code cannot be shown, because the address here is none that a payload may have. Bind the
  /// server to another one, and open a window again.
  case codeUnavailable(any Error)
  /// Others see this machine, under which name, or do not for now: it is tried until they do.
  case advertising(AdvertisingEvent)
  /// Others cannot find this machine; those who know its address are served.
  case notAdvertised(any Error)
}

/// A pairing code, to be shown at this machine and nowhere else.
public struct WindowCode: Sendable {
  /// Good for one attempt: after a wrong one, ``ServeEvent/code(_:)`` brings the next.
  public let code: PairingCode
  /// What another machine needs to pair.
  public let payload: PairingPayload
  /// When the window closes at the latest, by this machine's clock.
  public let expiresAt: Date
  /// What the window was opened for; `nil` leaves a machine that was paired before what it could read.
  public let scope: SampleFilter?
  /// What this machine is announced as at this moment; `nil` if others cannot find it by name.
  public let name: String?
  /// Whose record it is; `nil` where a damaged store cannot say so.
  public let person: Person?
}
