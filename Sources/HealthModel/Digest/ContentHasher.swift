import Cryptography

/// A hasher of the complete content of samples. The hash is the first 16 bytes, as a big-endian number, of
///
///     SHA-256("hpeer-digest/1 content ", form)
///
/// where `form` is the ``CanonicalForm`` of the sample's JSON object as the change feed has it.
public struct ContentHasher: Sendable {
  private static let prefix = Array("hpeer-digest/1 content ".utf8)
  private var form = CanonicalForm()

  /// Creates a hasher. Reuse it for many samples, because it keeps its buffer.
  public init() {}

  /// Returns the hash of a sample, which is equal for samples with equal JSON, on every machine and in every version.
  public mutating func hash(_ sample: Sample) -> UInt128 {
    form.removeAll()
    form.write(sample)
    var hasher = SHA256()
    hasher.update(data: Self.prefix)
    hasher.update(data: form.bytes)
    return UInt128(prefixOf: hasher.finalize())
  }
}
