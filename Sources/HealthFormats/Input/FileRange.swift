import Foundation

/// A range of a file, up to the end of the file.
final class FileRange: ByteSource {
  private let path: String
  private var descriptor: Int32
  private(set) var position: Int64
  private let end: Int64

  init(path: String, from start: Int64, count: Int64 = .max) throws(ImportError) {
    self.path = path
    position = start
    end = start.addingReportingOverflow(count).overflow ? .max : start + count
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw ImportError(errno: errno, path: path) }
  }

  deinit { close() }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    let count = Int(min(Int64(count), end - position))
    while count > 0 {
      let result = pread(descriptor, buffer, count, off_t(position))
      if result >= 0 {
        position += Int64(result)
        return result
      }
      if errno != EINTR { throw ImportError(errno: errno, path: path) }
    }
    return 0
  }

  func close() {
    guard descriptor >= 0 else { return }
    _ = Foundation.close(descriptor)
    descriptor = -1
  }
}
