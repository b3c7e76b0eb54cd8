/// A list of distinct values in order of appearance, with a lookup of their indices. The most recent value is tried
/// first, because neighbouring samples mostly share source and device and comparing is cheaper than hashing.
public struct ExactIndex<Value: Hashable & ExactlyComparable> {
  /// A key that compares values byte for byte. Two Unicode spellings that are equal under `==` are different keys.
  @usableFromInline struct Key: Hashable {
    @usableFromInline let value: Value

    @inlinable init(value: Value) { self.value = value }

    @inlinable static func == (lhs: Self, rhs: Self) -> Bool { lhs.value.isExactly(rhs.value) }

    @inlinable func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
  }

  /// The distinct values in the order in which ``index(of:)`` first saw them.
  public var values: [Value] { list }
  @usableFromInline var list: [Value] = []
  @usableFromInline var last: (value: Value, index: UInt32)?
  @usableFromInline var indices: [Key: UInt32] = [:]

  /// Creates an empty index. The first value gets index 0.
  public init() {}

  /// Returns the index of `value`, which is appended to ``values`` if it is new.
  @inlinable public mutating func index(of value: Value) -> UInt32 {
    if let last, last.value.isExactly(value) { return last.index }
    let key = Key(value: value)
    let index: UInt32
    if let known = indices[key] {
      index = known
    } else {
      index = UInt32(list.count)
      list.append(value)
      indices[key] = index
    }
    last = (value, index)
    return index
  }
}
