/// What is said of a place at which another record keeps its values under the same name.
enum ForeignRecord {
  /// The part of a sentence.
  ///
  /// - Parameter place: where they are: `below hpeer/me`.
  static func reason(_ place: String) -> String {
    "another health record keeps its values \(place): set person to another name, so that the two do not mix"
  }
}
