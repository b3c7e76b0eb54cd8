/// A source that must be as long as it was when it was found.
final class SizedSource: ByteSource {
  private let source: any ByteSource
  private let path: String
  private var rest: Int64

  init(_ source: any ByteSource, path: String, size: Int64) {
    self.source = source
    self.path = path
    rest = size
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    let result = try source.read(into: buffer, count: count)
    rest -= Int64(result)
    if rest < 0 || result == 0 && rest > 0 { throw .changedWhileReading(path: path) }
    return result
  }

  func close() { source.close() }
}
