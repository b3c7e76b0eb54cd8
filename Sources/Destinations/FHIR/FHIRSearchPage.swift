import Foundation

/// A page of a FHIR server's search results (https://hl7.org/fhir/R4/http.html#paging). Unknown parts are ignored.
struct FHIRSearchPage: Sendable {
  /// The ids of the resources that hpeer has written.
  var own: [String] = []
  /// The address of the next page, absolute or relative; `nil` on the last page.
  var next: String?

  private struct Bundle: Decodable {
    struct Link: Decodable {
      var relation: String?
      var url: String?
    }

    struct Entry: Decodable {
      struct Resource: Decodable {
        struct Extension: Decodable { var url: String? }

        var resourceType: String?
        var id: String?
        var `extension`: [Extension]?
      }

      var resource: Resource?
    }

    var link: [Link]?
    var entry: [Entry]?
  }

  /// Parses a page.
  ///
  /// - Parameter type: the requested resource type.
  init(_ body: [UInt8], of type: String) {
    guard let bundle = try? JSONDecoder().decode(Bundle.self, from: Data(body)) else { return }
    next = bundle.link?.first { $0.relation == "next" }?.url
    own = (bundle.entry ?? []).compactMap { entry in
      guard let resource = entry.resource, resource.resourceType == type, let id = resource.id, FHIROutcome.isID(id),
        resource.extension?.contains(where: { $0.url == "urn:hpeer:fhir:sample" }) == true
      else { return nil }
      return id
    }
  }

  /// Returns the address of the next page on the server that was asked. The host in the link is ignored: only that
  /// server may receive the token, and a server behind a proxy may not know its own name.
  func next(after address: String) -> String? {
    guard let next, let asked = URLComponents(string: address),
      var target = URL(string: next, relativeTo: URL(string: address)).flatMap({
        URLComponents(url: $0, resolvingAgainstBaseURL: true)
      })
    else { return nil }
    (target.scheme, target.host, target.port) = (asked.scheme, asked.host, asked.port)
    (target.user, target.password, target.fragment) = (nil, nil, nil)
    return target.string.flatMap { $0 == address ? nil : $0 }
  }
}
