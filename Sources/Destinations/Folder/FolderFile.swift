import Cryptography
import Glibc
import HealthModel
import OperatingSystem

/// A regular file that is open for reading.
struct FolderFile: ~Copyable {
  private static let piece = 256 << 10

  private let descriptor: Int32
  private let path: String
  /// The size in bytes when the file was opened.
  let size: Int

  /// Takes over an open file, or returns `nil` if it is not a regular file.
  ///
  /// - Parameters:
  ///   - descriptor: closed when this value is destroyed.
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

  /// Returns the content up to the size when the file was opened; less if the file has been truncated since.
  func bytes() throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while case let read = try read(UnsafeMutableBufferPointer(rebasing: buffer[count...])), read > 0 { count += read }
    }
  }

  /// Returns the version of the content that ``bytes()`` returns, without holding all of it in memory.
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

  /// Returns the version of a file with these bytes.
  static func version(of bytes: [UInt8]) -> ObjectVersion { version(SHA256.hash(data: bytes)) }

  private static func version(_ digest: SHA256Digest) -> ObjectVersion {
    ObjectVersion(rawValue: RadixCoding.hex.encode(digest))
  }

  /// Reads the next bytes.
  ///
  /// - Returns: the number of bytes; 0 at the end and for an empty buffer.
  private func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) throws -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError("read", path) }
    }
  }
}
