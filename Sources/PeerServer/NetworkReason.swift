import Glibc
import NIOCore
import OperatingSystem

/// Why something could not be listened on, in a few words: NIO names the function that failed first.
func networkReason(_ error: any Error) -> String {
  switch error {
  case let error as IOError: SystemMessage.text(error.errnoCode)
  case SocketAddressError.unixDomainSocketPathTooLong: "its path is too long"
  case is SocketAddressError, is SocketAddressError.UnknownHost: "no address is known for this name"
  default: "\(error)"
  }
}
