import NIOCore
import OperatingSystem

/// A reason why a server could not start.
public enum PeerServerError: Error, Hashable, Sendable {
  /// A listener of this program, each with a port of its own.
  public enum Listener: Hashable, Sendable {
    case server, inbox, metrics

    /// The option that chooses the port.
    var option: String {
      switch self {
      case .server: "--port"
      case .inbox: "--inbox-port"
      case .metrics: "--metrics"
      }
    }
  }

  /// Another process is listening on the port (`EADDRINUSE`).
  case portTaken(Int, of: Listener)
  /// The port is below 1024 and the user is not root (`EACCES`).
  case portForbidden(Int, of: Listener)
  /// The address does not belong to this machine, or another network error occurred.
  case cannotListen(address: String, reason: String)
}

extension PeerServerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .portTaken(let port, let listener):
      "Port \(port) is already taken by another program: stop that, or choose another with `\(listener.option) N` (`\(listener.option) 0` picks a free one)."
    case .portForbidden(let port, let listener):
      "Port \(port) needs privileges that this user does not have: choose one above 1023 with `\(listener.option) N`."
    case .cannotListen(let address, let reason):
      "Cannot listen on \(address) (\(reason)): check the address given to `--bind`."
    }
  }
}

/// Returns a short reason why listening failed. NIO's own description begins with the name of the failed function.
func networkReason(_ error: any Error) -> String {
  switch error {
  case let error as IOError: SystemMessage.text(error.errnoCode)
  case SocketAddressError.unixDomainSocketPathTooLong: "its path is too long"
  case is SocketAddressError, is SocketAddressError.UnknownHost: "no address is known for this name"
  default: "\(error)"
  }
}
