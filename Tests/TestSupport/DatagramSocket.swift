import Dispatch
import Foundation

/// A datagram socket of this machine that is read.
///
/// Unchecked, because the source is only kept, and cancelled at the end.
public final class DatagramSocket: @unchecked Sendable {
  private let source: any DispatchSourceRead

  /// - Parameters:
  ///   - name: a path at which nothing is yet, or `@` and a name of the abstract space.
  ///   - receive: called with one datagram after the other.
  ///   - end: called when there will be no more.
  public init(
    _ name: String, receive: @escaping @Sendable ([UInt8]) -> Void, end: @escaping @Sendable () -> Void = {}
  ) throws {
    let descriptor = try Self.bound(name, SOCK_DGRAM)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "DatagramSocket"))
    source.setEventHandler {
      var buffer = [UInt8](repeating: 0, count: 1 << 18)
      let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      guard count > 0 else { return }
      receive(Array(buffer[..<count]))
    }
    source.setCancelHandler {
      close(descriptor)
      end()
    }
    source.resume()
  }

  deinit { source.cancel() }

  /// A socket at that name which nothing reads yet; the caller's to close.
  public static func bound(_ name: String, _ type: __socket_type) throws -> CInt {
    let descriptor = socket(AF_UNIX, CInt(type.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes: [UInt8] = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let code = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard code == 0 else {
      close(descriptor)
      throw POSIXError(.EADDRINUSE)
    }
    return descriptor
  }
}
