import Foundation
import HealthModel

/// An unknown element in the form in which imports keep it: `{"element":…,"attributes":{…},"children":[…]}`.
struct ForeignElement {
  var name: String
  var attributes: [String: String] = [:]
  var children: [ForeignElement] = []
  /// The place of its parent below the sample's element, such as `MetadataEntry.KEY`; `nil` if the parent is the
  /// sample's element.
  var place: String?

  /// Creates an element from a payload of unknown kind, which is the element's name. Fails for content that is not an
  /// element.
  init?(_ kind: String, _ content: JSONValue) {
    let bare = kind.hasPrefix("foreign.") ? kind.dropFirst("foreign.".count) : kind[...]
    self.init(name: bare.prefix(1).uppercased() + bare.dropFirst(), content)
  }

  /// Creates an element from a metadata value. Fails for a text that is not an element.
  init?(_ text: String) {
    guard let content = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
    self.init(content)
    guard case .object(let members) = content, case .string(let place)? = members["in"] else { return }
    self.place = place
  }

  private init?(_ content: JSONValue) {
    guard case .object(let object) = content, case .string(let name)? = object["element"] else { return nil }
    self.init(name: name, content)
  }

  private init?(name: String, _ content: JSONValue) {
    guard XMLOutput.isName(name), case .object(let members) = content,
      case .object(let attributes)? = members["attributes"]
    else { return nil }
    self.name = name
    for (name, value) in attributes {
      guard case .string(let text) = value else { return nil }
      self.attributes[name] = text
    }
    guard case .array(let children)? = members["children"] else { return }
    for child in children {
      guard let element = ForeignElement(child) else { return nil }
      self.children.append(element)
    }
  }
}
