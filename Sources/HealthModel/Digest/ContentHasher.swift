import Cryptography

/// Hashes everything that a sample says: the first 16 bytes, as a big-endian number, of
///
///     SHA-256("hpeer-digest/1 content ", form)
///
/// where `form` is the ``CanonicalForm`` of the sample's JSON object as the change feed has it.
public struct ContentHasher: Sendable {
  private static let prefix = Array("hpeer-digest/1 content ".utf8)
  private var form = CanonicalForm()

  /// Keeps its buffer from sample to sample: one hasher for many is faster than one each.
  public init() {}

  /// Equal for samples that are equal in JSON, whatever machine or version asks.
  public mutating func hash(_ sample: Sample) -> UInt128 {
    form.removeAll()
    form.write(sample)
    var hasher = SHA256()
    hasher.update(data: Self.prefix)
    hasher.update(data: form.bytes)
    return UInt128(prefixOf: hasher.finalize())
  }
}
