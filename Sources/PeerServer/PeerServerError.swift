import NIOCore
import OperatingSystem

/// Why the server could not start.
public enum PeerServerError: Error, Hashable, Sendable {
  /// Another process listens on the port (`EADDRINUSE`).
  case portTaken(Int)
  /// The same of the inbox's.
  case inboxPortTaken(Int)
  /// The port is below 1024 and the user is not root (`EACCES`).
  case portForbidden(Int)
  /// The address is not one of this machine's, or something else of the network's.
  case cannotListen(address: String, reason: String)
}

extension PeerServerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .portTaken(let port):
      "Port \(port) is already taken by another program: stop that, or choose another with `--port N` (`--port 0` picks a free one)."
    case .inboxPortTaken(let port):
      "Port \(port) is already taken by another program: stop that, or choose another for the inbox with `--inbox-port N` (`--inbox-port 0` picks a free one)."
    case .portForbidden(let port):
      "Port \(port) needs privileges that this user does not have: choose one above 1023 with `--port N`."
    case .cannotListen(let address, let reason):
      "Cannot listen on \(address) (\(reason)): check the address given to `--bind`."
    }
  }
}

/// Why something could not be listened on, in a few words: NIO names the function that failed first.
func networkReason(_ error: any Error) -> String {
  switch error {
  case let error as IOError: SystemMessage.text(error.errnoCode)
  case SocketAddressError.unixDomainSocketPathTooLong: "its path is too long"
  case is SocketAddressError, is SocketAddressError.UnknownHost: "no address is known for this name"
  default: "\(error)"
  }
}
