import Cryptography
import Glibc
import OperatingSystem

/// A regular file that is open for reading.
struct FolderFile: ~Copyable {
  private static let piece = 256 << 10

  private let descriptor: Int32
  private let path: String
  /// In bytes, when it was opened.
  let size: Int

  /// `nil` of what is no regular file.
  ///
  /// - Parameters:
  ///   - descriptor: closed when this is gone.
  ///   - path: for errors.
  init?(_ descriptor: Int32, path: String) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    (self.descriptor, self.path, size) = (descriptor, path, Int(status.st_size))
  }

  deinit { close(descriptor) }

  /// As many bytes as there were when it was opened; fewer of a file that has lost some since.
  func bytes() throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while case let read = try read(UnsafeMutableBufferPointer(rebasing: buffer[count...])), read > 0 { count += read }
    }
  }

  /// The version of what ``bytes()`` are, in the memory of a small part of them.
  func version() throws -> ObjectVersion {
    var (hash, rest) = (SHA256(), size)
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.piece) { buffer in
      while case let read = try read(UnsafeMutableBufferPointer(rebasing: buffer[..<min(rest, Self.piece)])), read > 0 {
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<read]))
        rest -= read
      }
    }
    return Self.version(hash.finalize())
  }

  /// The version of a file with these bytes.
  static func version(of bytes: [UInt8]) -> ObjectVersion { version(SHA256.hash(data: bytes)) }

  private static func version(_ digest: SHA256Digest) -> ObjectVersion {
    ObjectVersion(rawValue: digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())
  }

  /// - Returns: how many bytes; 0 at the end, and of an empty buffer.
  private func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) throws -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError("read", path) }
    }
  }
}
