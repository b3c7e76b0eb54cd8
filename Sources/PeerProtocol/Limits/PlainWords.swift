/// What another machine says in its own words, for a person.
public enum PlainWords {
  /// Cut to as many characters as are of use. Whoever prints it escapes it.
  public static func cut(_ text: String, _ limits: ClientLimits = ClientLimits()) -> String {
    // Of scalars, of which a character may have any number.
    String(text.unicodeScalars.prefix(limits.messageLength))
  }
}
