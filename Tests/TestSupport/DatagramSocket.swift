import Dispatch
import Foundation

/// A bound Unix datagram socket whose datagrams are passed to a closure.
///
/// Unchecked, because the source is only stored and is cancelled in `deinit`.
public final class DatagramSocket: @unchecked Sendable {
  private let source: any DispatchSourceRead

  /// Creates a socket that is read until it is released.
  ///
  /// - Parameters:
  ///   - name: An unused path, or `@` and a name in the abstract namespace.
  ///   - receive: A closure called for each datagram, one after the other.
  ///   - end: A closure called when no more datagrams follow.
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

  /// Creates and binds a socket that nothing reads yet. The caller must close it.
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
