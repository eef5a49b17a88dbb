//! The table: attributes and children of each element of a schema document. (XML Schema Part 1, appendix A)

use super::values::Sort;
use Sort::{
    AnyUri, Block, BlockNoSubstitution, Boolean, Count, Form, Id, MaxOccurs, Name, Namespaces, One,
    Process, QualifiedName, QualifiedNames, SimpleFinal, Text, Usage, ZeroOrOne,
};

/// The attributes and children that an element may have.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) attributes: &'static [(&'static str, Sort)],
    pub(super) required: &'static [&'static str],
    pub(super) children: Children,
}

#[derive(Clone, Copy)]
pub(super) enum Children {
    /// Whatever one likes.
    Anything,
    /// The groups in this order.
    Groups(&'static [&'static ChildGroup]),
}

/// Children that may follow one another in any order.
pub(super) struct ChildGroup {
    pub(super) rules: &'static [&'static Rule],
    pub(super) max: usize,
    pub(super) is_required: bool,
}

const MANY: usize = usize::MAX;

// (Macros, because the arguments of a `const fn` may not borrow from statics for ever.)
macro_rules! up_to {
    ($max:expr, $rules:expr $(,)?) => {
        ChildGroup {
            rules: $rules,
            max: $max,
            is_required: false,
        }
    };
}

macro_rules! needed {
    ($max:expr, $rules:expr $(,)?) => {
        ChildGroup {
            rules: $rules,
            max: $max,
            is_required: true,
        }
    };
}

macro_rules! rule {
    ($name:expr, $attributes:expr, $required:expr, $children:expr $(,)?) => {
        Rule {
            name: $name,
            attributes: $attributes,
            required: $required,
            children: Children::Groups($children),
        }
    };
}

macro_rules! facet {
    ($name:expr) => {
        rule!(
            $name,
            &[("value", Text), ("fixed", Boolean), ("id", Id)],
            &["value"],
            &[&NOTE]
        )
    };
}

static NOTE: ChildGroup = up_to!(1, &[&ANNOTATION]);
static USES: ChildGroup = up_to!(MANY, &[&LOCAL_ATTRIBUTE, &ATTRIBUTE_GROUP_REF]);
static ANY_USE: ChildGroup = up_to!(1, &[&ANY_ATTRIBUTE]);
static MODEL: ChildGroup = up_to!(1, &[&SEQUENCE, &CHOICE, &ALL, &GROUP_REF]);
static PARTICLES: ChildGroup = up_to!(
    MANY,
    &[&LOCAL_ELEMENT, &GROUP_REF, &CHOICE, &SEQUENCE, &ANY],
);
static FACETS: ChildGroup = up_to!(
    MANY,
    &[
        &LENGTH,
        &MIN_LENGTH,
        &MAX_LENGTH,
        &PATTERN,
        &ENUMERATION,
        &WHITE_SPACE,
        &MAX_INCLUSIVE,
        &MAX_EXCLUSIVE,
        &MIN_INCLUSIVE,
        &MIN_EXCLUSIVE,
        &TOTAL_DIGITS,
        &FRACTION_DIGITS,
    ],
);
static TYPE: ChildGroup = up_to!(1, &[&LOCAL_SIMPLE_TYPE, &LOCAL_COMPLEX_TYPE]);
static CONSTRAINTS: ChildGroup = up_to!(MANY, &[&UNIQUE, &KEY, &KEYREF]);

pub(super) static SCHEMA: Rule = rule!(
    "schema",
    &[
        ("targetNamespace", AnyUri),
        ("version", Text),
        ("finalDefault", SimpleFinal),
        ("blockDefault", Block),
        ("attributeFormDefault", Form),
        ("elementFormDefault", Form),
        ("id", Id),
    ],
    &[],
    &[
        &up_to!(MANY, &[&INCLUDE, &IMPORT, &REDEFINE, &ANNOTATION]),
        &up_to!(
            MANY,
            &[
                &SIMPLE_TYPE,
                &COMPLEX_TYPE,
                &GROUP,
                &ATTRIBUTE_GROUP,
                &ELEMENT,
                &ATTRIBUTE,
                &NOTATION,
                &ANNOTATION,
            ],
        ),
    ],
);
static INCLUDE: Rule = rule!(
    "include",
    &[("schemaLocation", AnyUri), ("id", Id)],
    &["schemaLocation"],
    &[&NOTE],
);
static IMPORT: Rule = rule!(
    "import",
    &[
        ("namespace", AnyUri),
        ("schemaLocation", AnyUri),
        ("id", Id),
    ],
    &[],
    &[&NOTE],
);
static REDEFINE: Rule = rule!(
    "redefine",
    &[("schemaLocation", AnyUri), ("id", Id)],
    &["schemaLocation"],
    &[&up_to!(
        MANY,
        &[
            &ANNOTATION,
            &SIMPLE_TYPE,
            &COMPLEX_TYPE,
            &GROUP,
            &ATTRIBUTE_GROUP,
        ],
    )],
);
static ANNOTATION: Rule = rule!(
    "annotation",
    &[("id", Id)],
    &[],
    &[&up_to!(MANY, &[&APPINFO, &DOCUMENTATION])],
);
static APPINFO: Rule = Rule {
    name: "appinfo",
    attributes: &[("source", AnyUri)],
    required: &[],
    children: Children::Anything,
};
static DOCUMENTATION: Rule = Rule {
    name: "documentation",
    attributes: &[("source", AnyUri)],
    required: &[],
    children: Children::Anything,
};
static NOTATION: Rule = rule!(
    "notation",
    &[
        ("name", Name),
        ("public", Text),
        ("system", AnyUri),
        ("id", Id),
    ],
    &["name", "public"],
    &[&NOTE],
);

static ELEMENT: Rule = rule!(
    "element",
    &[
        ("name", Name),
        ("type", QualifiedName),
        ("substitutionGroup", QualifiedName),
        ("default", Text),
        ("fixed", Text),
        ("nillable", Boolean),
        ("abstract", Boolean),
        ("final", BlockNoSubstitution),
        ("block", Block),
        ("id", Id),
    ],
    &["name"],
    &[&NOTE, &TYPE, &CONSTRAINTS],
);
static LOCAL_ELEMENT: Rule = rule!(
    "element",
    &[
        ("name", Name),
        ("ref", QualifiedName),
        ("type", QualifiedName),
        ("minOccurs", Count),
        ("maxOccurs", MaxOccurs),
        ("default", Text),
        ("fixed", Text),
        ("nillable", Boolean),
        ("block", Block),
        ("form", Form),
        ("id", Id),
    ],
    &[],
    &[&NOTE, &TYPE, &CONSTRAINTS],
);
static ELEMENT_IN_ALL: Rule = rule!(
    "element",
    &[
        ("name", Name),
        ("ref", QualifiedName),
        ("type", QualifiedName),
        ("minOccurs", ZeroOrOne),
        ("maxOccurs", ZeroOrOne),
        ("default", Text),
        ("fixed", Text),
        ("nillable", Boolean),
        ("block", Block),
        ("form", Form),
        ("id", Id),
    ],
    &[],
    &[&NOTE, &TYPE, &CONSTRAINTS],
);
static ATTRIBUTE: Rule = rule!(
    "attribute",
    &[
        ("name", Name),
        ("type", QualifiedName),
        ("default", Text),
        ("fixed", Text),
        ("id", Id),
    ],
    &["name"],
    &[&NOTE, &up_to!(1, &[&LOCAL_SIMPLE_TYPE])],
);
static LOCAL_ATTRIBUTE: Rule = rule!(
    "attribute",
    &[
        ("name", Name),
        ("ref", QualifiedName),
        ("type", QualifiedName),
        ("use", Usage),
        ("default", Text),
        ("fixed", Text),
        ("form", Form),
        ("id", Id),
    ],
    &[],
    &[&NOTE, &up_to!(1, &[&LOCAL_SIMPLE_TYPE])],
);
static ATTRIBUTE_GROUP: Rule = rule!(
    "attributeGroup",
    &[("name", Name), ("id", Id)],
    &["name"],
    &[&NOTE, &USES, &ANY_USE],
);
static ATTRIBUTE_GROUP_REF: Rule = rule!(
    "attributeGroup",
    &[("ref", QualifiedName), ("id", Id)],
    &["ref"],
    &[&NOTE],
);
static ANY_ATTRIBUTE: Rule = rule!(
    "anyAttribute",
    &[
        ("namespace", Namespaces),
        ("processContents", Process),
        ("id", Id),
    ],
    &[],
    &[&NOTE],
);

static GROUP: Rule = rule!(
    "group",
    &[("name", Name), ("id", Id)],
    &["name"],
    &[
        &NOTE,
        &needed!(1, &[&GROUP_SEQUENCE, &GROUP_CHOICE, &GROUP_ALL]),
    ],
);
static GROUP_REF: Rule = rule!(
    "group",
    &[
        ("ref", QualifiedName),
        ("minOccurs", Count),
        ("maxOccurs", MaxOccurs),
        ("id", Id),
    ],
    &["ref"],
    &[&NOTE],
);
static GROUP_SEQUENCE: Rule = rule!("sequence", &[("id", Id)], &[], &[&NOTE, &PARTICLES]);
static GROUP_CHOICE: Rule = rule!("choice", &[("id", Id)], &[], &[&NOTE, &PARTICLES]);
static GROUP_ALL: Rule = rule!(
    "all",
    &[("id", Id)],
    &[],
    &[&NOTE, &up_to!(MANY, &[&ELEMENT_IN_ALL])],
);
static SEQUENCE: Rule = rule!(
    "sequence",
    &[("minOccurs", Count), ("maxOccurs", MaxOccurs), ("id", Id)],
    &[],
    &[&NOTE, &PARTICLES],
);
static CHOICE: Rule = rule!(
    "choice",
    &[("minOccurs", Count), ("maxOccurs", MaxOccurs), ("id", Id)],
    &[],
    &[&NOTE, &PARTICLES],
);
static ALL: Rule = rule!(
    "all",
    &[("minOccurs", ZeroOrOne), ("maxOccurs", One), ("id", Id)],
    &[],
    &[&NOTE, &up_to!(MANY, &[&ELEMENT_IN_ALL])],
);
static ANY: Rule = rule!(
    "any",
    &[
        ("namespace", Namespaces),
        ("processContents", Process),
        ("minOccurs", Count),
        ("maxOccurs", MaxOccurs),
        ("id", Id),
    ],
    &[],
    &[&NOTE],
);

static SIMPLE_TYPE: Rule = rule!(
    "simpleType",
    &[("name", Name), ("final", SimpleFinal), ("id", Id)],
    &["name"],
    &[&NOTE, &SIMPLE_DERIVATION],
);
static LOCAL_SIMPLE_TYPE: Rule = rule!(
    "simpleType",
    &[("id", Id)],
    &[],
    &[&NOTE, &SIMPLE_DERIVATION]
);
static SIMPLE_DERIVATION: ChildGroup = needed!(1, &[&SIMPLE_RESTRICTION, &LIST, &UNION]);
static SIMPLE_RESTRICTION: Rule = rule!(
    "restriction",
    &[("base", QualifiedName), ("id", Id)],
    &[],
    &[&NOTE, &up_to!(1, &[&LOCAL_SIMPLE_TYPE]), &FACETS],
);
static LIST: Rule = rule!(
    "list",
    &[("itemType", QualifiedName), ("id", Id)],
    &[],
    &[&NOTE, &up_to!(1, &[&LOCAL_SIMPLE_TYPE])],
);
static UNION: Rule = rule!(
    "union",
    &[("memberTypes", QualifiedNames), ("id", Id)],
    &[],
    &[&NOTE, &up_to!(MANY, &[&LOCAL_SIMPLE_TYPE])],
);

static COMPLEX_TYPE: Rule = rule!(
    "complexType",
    &[
        ("name", Name),
        ("mixed", Boolean),
        ("abstract", Boolean),
        ("final", BlockNoSubstitution),
        ("block", BlockNoSubstitution),
        ("id", Id),
    ],
    &["name"],
    COMPLEX_CHILDREN,
);
static LOCAL_COMPLEX_TYPE: Rule = rule!(
    "complexType",
    &[("mixed", Boolean), ("id", Id)],
    &[],
    COMPLEX_CHILDREN,
);
static COMPLEX_CHILDREN: &[&ChildGroup] = &[
    &NOTE,
    &up_to!(
        1,
        &[
            &SIMPLE_CONTENT,
            &COMPLEX_CONTENT,
            &SEQUENCE,
            &CHOICE,
            &ALL,
            &GROUP_REF,
        ],
    ),
    &USES,
    &ANY_USE,
];
static SIMPLE_CONTENT: Rule = rule!(
    "simpleContent",
    &[("id", Id)],
    &[],
    &[
        &NOTE,
        &needed!(1, &[&SIMPLE_CONTENT_RESTRICTION, &SIMPLE_CONTENT_EXTENSION]),
    ],
);
static SIMPLE_CONTENT_RESTRICTION: Rule = rule!(
    "restriction",
    &[("base", QualifiedName), ("id", Id)],
    &["base"],
    &[
        &NOTE,
        &up_to!(1, &[&LOCAL_SIMPLE_TYPE]),
        &FACETS,
        &USES,
        &ANY_USE
    ],
);
static SIMPLE_CONTENT_EXTENSION: Rule = rule!(
    "extension",
    &[("base", QualifiedName), ("id", Id)],
    &["base"],
    &[&NOTE, &USES, &ANY_USE],
);
static COMPLEX_CONTENT: Rule = rule!(
    "complexContent",
    &[("mixed", Boolean), ("id", Id)],
    &[],
    &[
        &NOTE,
        &needed!(1, &[&COMPLEX_RESTRICTION, &COMPLEX_EXTENSION])
    ],
);
static COMPLEX_RESTRICTION: Rule = rule!(
    "restriction",
    &[("base", QualifiedName), ("id", Id)],
    &["base"],
    &[&NOTE, &MODEL, &USES, &ANY_USE],
);
static COMPLEX_EXTENSION: Rule = rule!(
    "extension",
    &[("base", QualifiedName), ("id", Id)],
    &["base"],
    &[&NOTE, &MODEL, &USES, &ANY_USE],
);

static UNIQUE: Rule = rule!(
    "unique",
    &[("name", Name), ("id", Id)],
    &["name"],
    KEY_CHILDREN,
);
static KEY: Rule = rule!(
    "key",
    &[("name", Name), ("id", Id)],
    &["name"],
    KEY_CHILDREN,
);
static KEYREF: Rule = rule!(
    "keyref",
    &[("name", Name), ("refer", QualifiedName), ("id", Id)],
    &["name", "refer"],
    KEY_CHILDREN,
);
static KEY_CHILDREN: &[&ChildGroup] =
    &[&NOTE, &needed!(1, &[&SELECTOR]), &needed!(MANY, &[&FIELD])];
static SELECTOR: Rule = rule!(
    "selector",
    &[("xpath", Sort::Selector), ("id", Id)],
    &["xpath"],
    &[&NOTE],
);
static FIELD: Rule = rule!(
    "field",
    &[("xpath", Sort::Field), ("id", Id)],
    &["xpath"],
    &[&NOTE],
);

static LENGTH: Rule = facet!("length");
static MIN_LENGTH: Rule = facet!("minLength");
static MAX_LENGTH: Rule = facet!("maxLength");
static WHITE_SPACE: Rule = facet!("whiteSpace");
static MAX_INCLUSIVE: Rule = facet!("maxInclusive");
static MAX_EXCLUSIVE: Rule = facet!("maxExclusive");
static MIN_INCLUSIVE: Rule = facet!("minInclusive");
static MIN_EXCLUSIVE: Rule = facet!("minExclusive");
static TOTAL_DIGITS: Rule = facet!("totalDigits");
static FRACTION_DIGITS: Rule = facet!("fractionDigits");
static PATTERN: Rule = rule!(
    "pattern",
    &[("value", Text), ("id", Id)],
    &["value"],
    &[&NOTE],
);
static ENUMERATION: Rule = rule!(
    "enumeration",
    &[("value", Text), ("id", Id)],
    &["value"],
    &[&NOTE],
);
