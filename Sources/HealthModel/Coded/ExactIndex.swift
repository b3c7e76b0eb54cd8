/// Distinct values in order of appearance, and the index of each. The last one is tried first: neighbours mostly share
/// source and device, and hashing their texts costs more than comparing them.
public struct ExactIndex<Value: Hashable & ExactlyComparable> {
  /// Compares by bytes: two Unicode spellings that `==` holds equal are two values.
  @usableFromInline struct Key: Hashable {
    @usableFromInline let value: Value

    @inlinable init(value: Value) { self.value = value }

    @inlinable static func == (lhs: Self, rhs: Self) -> Bool { lhs.value.isExactly(rhs.value) }

    @inlinable func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
  }

  /// Each once, in the order in which ``index(of:)`` first saw it.
  public var values: [Value] { list }
  @usableFromInline var list: [Value] = []
  @usableFromInline var last: (value: Value, index: UInt32)?
  @usableFromInline var indices: [Key: UInt32] = [:]

  /// The first value gets index 0.
  public init() {}

  /// The index of `value`, which becomes one of ``values`` if it is new.
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
